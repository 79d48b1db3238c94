// What root makes, and gives to the account that it becomes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/machine/walk.hpp"

namespace proxy::machine {

// Each function walks to the place as Walk does, and throws as it does. Missing::make: makes what
// is missing and, if root alone may change the folder, gives the account what is root's there.
// Missing::leave: only finds out whether that would throw.

// The folder of a cache, with the files in it.
void give_folder(const std::filesystem::path& folder, const Account& account, Missing missing);
// A file to append to. A symbolic link, a pipe or a device stays as it is.
void give_file(const std::filesystem::path& file, const Account& account, Missing missing);

// A Unix socket in this folder, which root alone may change.
void give_socket(int folder, const std::filesystem::path& name, const Account& account);

// What the system refused, in one line each for a person that names the setting.
using Refusals = std::vector<std::string>;

// What the account is to write: the cache and the log. The proxy serves without what the system
// refuses, as it does where a file system is read-only, and tries it again. Throws
// std::runtime_error if root must not go there, since a third user might lead it astray.
Refusals give_places(const config::Settings& settings, const Account& account);

struct TriedPlaces {
  Refusals refused;
  Refusals forbidden;  // for which give_places() throws
};
// What give_places() would come to, and whether the control socket would have a folder. Changes
// nothing.
TriedPlaces tried_places(const config::Settings& settings, const Account& account);

}  // namespace proxy::machine
