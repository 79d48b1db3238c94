// Limits system calls by a seccomp filter.
#pragma once

namespace proxy::sandbox {

// Whether the kernel has seccomp filters that end the process.
bool can_limit_calls();

// From now on this process, with all its threads, makes only the calls that a running proxy needs.
// Calls by which one program attacks another or the kernel end it by SIGSYS: to run a program, to
// trace or read another process, to mount, to load code into the kernel. Other calls fail with
// ENOSYS, as on an older kernel, so that a newer C library uses the calls that it used before. No
// socket may listen, and only sockets of IP and for the list of interfaces may be made. Memory is
// never writable and executable at once. Cannot be undone.
//
// Returns whether the filter is in force; true if the kernel accepted it. Sets no_new_privs.
bool limit_calls();

}  // namespace proxy::sandbox
