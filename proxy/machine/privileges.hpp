// The user as which the proxy runs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace proxy::machine {

struct Account {
  std::string name;
  uid_t user = 0;
  gid_t group = 0;
};

// The account of this name; nothing if the system has none. Blocks: asks name services.
std::optional<Account> account_of(const std::string& name);

// The account that a process becomes: `wanted`, or if that is empty the user `hearsay`, if there is
// one. Nothing: the process stays what it is, because it is not root, or should be root, or there
// is no user `hearsay`. Throws std::runtime_error if root is to become a user who does not exist.
std::optional<Account> account_to_become(const std::string& wanted);

// Becomes the account for good. Call this while the process has one thread. Throws
// std::system_error.
void become(const Account& account);

// Gives up what a process that is not root may do beyond its user, such as to listen on low ports.
// Child processes do not get it either. Throws std::system_error.
void give_up_capabilities();

// Leaves the process no more rights than those of one user. With an account, calls become().
// Without one, calls give_up_capabilities() unless the process is root. Throws what these two
// throw.
void give_up_privileges(const std::optional<Account>& account);

// Advice for a proxy that keeps root's rights, though the settings do not ask for that. Empty: the
// proxy does not keep them. Pure, except that it looks up the users of the system and its own.
std::string why_root(const std::string& wanted);

// Says in one line for a person as which user the process runs.
std::string describe_user();

}  // namespace proxy::machine
