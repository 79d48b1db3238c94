// The files and folders that root makes, and gives to the account that it becomes.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <boost/core/noncopyable.hpp>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/machine/privileges.hpp"

namespace proxy::machine {

// While it lives, the process has the account's rights instead of root's. Make one while the
// process has one thread. Throws std::system_error.
class Acting : boost::noncopyable {
 public:
  explicit Acting(const Account& account);
  ~Acting();

 private:
  gid_t group_;
  std::vector<gid_t> groups_;
};

enum class Missing { make, leave };

// Root opens the folders of a path one by one, by their descriptors, and uses its rights only where
// root alone may change what the name of the next one means. From the first folder on that the
// account or several users may change, the process acts as the account, as long as the Walk lives.
// So a link is followed with root's rights only if root owns it and nobody else could have put it
// there. Needs root. Make one while the process has one thread.
class Walk {
 public:
  // Makes the folders that are missing, the last of them for the account. Missing::leave: stops
  // there instead. Throws std::runtime_error, with a text for a person, if a third
  // user, neither root nor the account, may change a folder or a link on the way; of that class,
  // std::system_error if a folder cannot be opened or made.
  Walk(const std::filesystem::path& folder, const Account& account, Missing missing);

  // Whether root alone may change what the folder holds. Else the process acts as the account.
  [[nodiscard]] bool is_roots() const { return !acting_; }
  // -1: it is missing.
  [[nodiscard]] int folder() const { return at_.number(); }

 private:
  void step(const std::string& name);
  void follow(const Descriptor& link);
  void make(const std::string& name);
  void enter(Descriptor folder);
  void start();
  void act_as_account();
  // Throws unless the item's owner is root or the account.
  void check_owner(const std::filesystem::path& item, const struct stat& status) const;

  const Account& account_;
  Missing missing_;
  std::filesystem::path wanted_;
  std::deque<std::string> rest_;  // the names that follow
  std::filesystem::path where_;   // the folder at_
  Descriptor at_;
  bool is_shared_ = false;  // others than the owner of at_ may create files there
  int links_ = 0;
  std::optional<Acting> acting_;
};

// Each function walks to the place as Walk does, and throws as it does. Missing::make: makes what
// is missing and, if root alone may change the folder, gives the account what is root's there.
// Missing::leave: only finds out whether that would throw.

// The folder of a cache, with the files in it.
void give_folder(const std::filesystem::path& folder, const Account& account, Missing missing);
// A file to append to. A symbolic link, a pipe or a device stays as it is.
void give_file(const std::filesystem::path& file, const Account& account, Missing missing);

// Gives the account the Unix socket `name` in this folder. Root alone may change the folder.
void give_socket(int folder, const std::filesystem::path& name, const Account& account);

// The refusals of the system, each in one line for a person that names the setting.
using Refusals = std::vector<std::string>;

// Gives the account the folders of the cache and of the log. If the system refuses one, as on a
// read-only file system, the proxy serves without it, and tries again later. Throws
// std::runtime_error if root must not go there, since a third user might lead it astray.
Refusals give_places(const config::Settings& settings, const Account& account);

struct TriedPlaces {
  Refusals refused;
  Refusals forbidden;  // for which give_places() throws
};
// Returns what give_places() would, and whether the control socket would have a folder. Changes
// nothing.
TriedPlaces tried_places(const config::Settings& settings, const Account& account);

}  // namespace proxy::machine
