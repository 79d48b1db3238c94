// Which files a running proxy needs: those that its settings name, and those that its libraries
// read.
#pragma once

#include <filesystem>
#include <vector>

#include "config/settings.hpp"

namespace proxy::sandbox {

enum class Use {
  read,    // read files, list folders
  append,  // create files and write them
  store,   // read, create, write and remove files, create folders
  remove,  // remove files
};

// What limit_files() makes if nothing exists at the path, because nothing could be granted later:
// the folder above is not granted.
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

}  // namespace proxy::sandbox
