// Confines a running proxy, so that an attacker who takes it over gains little: no other program,
// no other files, no new listening sockets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace proxy::machine::sandbox {

// Which files a running proxy needs: those that its settings name, and those that its libraries
// read.
enum class Use {
  read,    // read files, list folders
  append,  // create files and write them
  store,   // read, create, write and remove files, create folders
  remove,  // remove files
};

// The thing that limit_files() makes if nothing exists at the path, which could not be granted
// later: the folder above is not granted.
enum class Make { nothing, file, folder };

// A right to use a file, or a folder with everything below it. The kernel ties a grant to the file
// that has the path now: a grant of a file ends for a new file that replaces it, and a path where
// nothing exists cannot be granted.
struct Grant {
  std::filesystem::path path;
  Use use = Use::read;
  Make make = Make::nothing;

  bool operator==(const Grant&) const = default;
};

// Grants for a proxy with these settings, which were read from this file.
//
// Of a file that the settings name, as a rule its folder is granted: a log is rotated, a list is
// replaced, the cache's folder is removed and created again. In folders that hold files of others,
// such as /etc, /tmp or a home, the file alone is granted. If the folder of the log or
// of the cache is missing, the nearest folder above is granted, or if that holds files of others,
// the missing one is made. Relative paths are resolved
// now, as are symbolic links. The settings files and the lists stay readable, to be read again.
// Files in the folder of the control socket may be removed; in folders of others the socket's file
// stays behind.
//
// The libraries read what name resolution, certificates and time zones need, and more libraries.
// All of /etc may be read, except by root: root could read passwords and keys there, so root gets
// the files one by one. Follows SSL_CERT_FILE, SSL_CERT_DIR, OPENSSL_CONF and HOSTALIASES of the
// environment.
std::vector<Grant> grants_for(const config::Settings& settings,
                              const std::filesystem::path& settings_file);

// The parts of the sandbox that depend on the kernel.
struct Parts {
  bool calls = false;  // system calls are limited, by seccomp
  int files = 0;       // the version of Landlock that limits files; 0: files are not limited

  bool operator==(const Parts&) const = default;
};

// AddressSanitizer and ThreadSanitizer trace the process, start programs and read files that the
// sandbox denies. A program that is built with them serves without the sandbox.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)  // clang
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// The parts of the sandbox that enter() would put in force on this kernel.
Parts available();

// Confines the process until it ends: limit_calls(), limit_files(), no_new_privs, no core
// dumps, and no tracing by other programs of the same user. Returns what is in force.
//
// Landlock limits only the calling thread and the threads that it starts later. So call this while
// the process has one thread, after the sockets are bound.
Parts enter(const std::vector<Grant>& grants);

// Says in one line for a person what is limited, and which parts are missing in this kernel.
std::string describe(const Parts& parts);

// Where the process may write, in one line for a person; empty if nowhere.
std::string describe(const std::vector<Grant>& grants);

// Enters the sandbox (see enter()) unless the settings, or a build with a sanitizer, do without it.
// `settings_file`: from which the settings were read. Returns what is in force, in one line for a
// person. Call this while the process has one thread.
std::string confine(const config::Settings& settings, const std::string& settings_file);

// Says in lines for a person what confine() would put in force. Changes nothing.
std::vector<std::string> preview(const config::Settings& settings,
                                 const std::string& settings_file);

// The parts of enter().

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

// The version of the kernel's Landlock (landlock(7), since Linux 5.13); 0 if the kernel has none,
// or denies it to us.
int landlock_version();

// From now on the calling thread, and the threads that it starts later, may open only what the
// grants allow, whoever runs the program. Open files stay open. A grant of a path that does not
// exist has no effect. From version 4 on no TCP socket may be bound, from version 6 on no signal
// reaches other programs and no abstract Unix socket of theirs may be connected to. To look at a
// file's name and attributes stays allowed everywhere. Cannot be undone.
//
// Returns whether the limits are in force. Needs no_new_privs.
bool limit_files(const std::vector<Grant>& grants);

}  // namespace proxy::machine::sandbox
