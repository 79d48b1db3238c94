// Limits files by Landlock, which Linux has since 5.13 (landlock(7)).
#pragma once

#include <vector>

#include "proxy/machine/grants.hpp"

namespace proxy::sandbox {

// The version of the kernel's Landlock; 0 if the kernel has none, or denies it to us.
int landlock_version();

// From now on the calling thread, and the threads that it starts later, may open only what the
// grants allow, whoever runs the program. Open files stay open. A grant of a path that does not
// exist has no effect. From version 4 on no TCP socket may be bound, from version 6 on no signal
// reaches other programs and no abstract Unix socket of theirs may be connected to. To look at a
// file's name and attributes stays allowed everywhere. Cannot be undone.
//
// Returns whether the limits are in force. Needs no_new_privs.
bool limit_files(const std::vector<Grant>& grants);

}  // namespace proxy::sandbox
