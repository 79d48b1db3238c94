// Unix sockets by their paths.
#pragma once

#include <sys/un.h>

#include <optional>
#include <string>

namespace proxy::machine {

// The address of the path; nothing if no socket can have so long a path.
std::optional<sockaddr_un> local_address(const std::string& path);

// Whether a process listens there. A listener whose queue is full counts. A path that may not be
// connected to counts, too: nobody knows.
bool somebody_listens(const sockaddr_un& address);

}  // namespace proxy::machine
