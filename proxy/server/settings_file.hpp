// The settings file, which is read at the start and again at each reload.
#pragma once

#include <boost/system/result.hpp>
#include <string>

#include "config/load.hpp"
#include "proxy/policy/policy.hpp"

namespace proxy {

class SettingsFile {
 public:
  explicit SettingsFile(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  // Reads the file, and the lists that it names. Says how many entries the lists have. `before`:
  // see Policy. Blocks: a list of a million entries takes about a second.
  [[nodiscard]] boost::system::result<PinnedPolicy, config::SettingsErrors> read(
      const Policy* before = nullptr) const;

 private:
  const std::string path_;
};

}  // namespace proxy
