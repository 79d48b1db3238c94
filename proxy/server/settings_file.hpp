// The settings file, which is read at the start and again at each reload.
#pragma once

#include <boost/system/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/policy/policy.hpp"

namespace proxy::server {

class SettingsFile {
 public:
  // `memory`: that of this process, for machine::fit_defaults().
  explicit SettingsFile(std::string path, std::optional<machine::MemoryLimit> memory = {})
      : path_(std::move(path)), memory_(std::move(memory)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::optional<machine::MemoryLimit>& memory() const { return memory_; }
  // Reads the file, and what it includes. A neighbour that is ourselves, by its address, is left
  // out.
  [[nodiscard]] boost::system::result<config::Settings, config::SettingsErrors> read_settings()
      const;
  // Reads the lists and the file of users that the settings name, and not the file again, which may
  // have changed since read_settings(). `before`: the policy that it will replace. Says how many
  // entries the lists have. Blocks: a list of a million entries takes about a second.
  [[nodiscard]] boost::system::result<policy::PinnedPolicy, config::SettingsErrors> policy_of(
      config::Settings settings, const policy::Policy* before = nullptr) const;

  struct Reread {
    policy::PinnedPolicy policy;
    std::vector<std::string_view> waiting;  // config::needing_restart()
  };
  // Reads settings and makes their policy, as read_settings() and policy_of() do, for a running
  // proxy. Settings that need a restart stay as they are in `before`.
  [[nodiscard]] boost::system::result<Reread, config::SettingsErrors> read_again(
      const policy::Policy& before) const;

 private:
  const std::string path_;
  const machine::Clock clock_{};  // for how long the lists take
  const std::optional<machine::MemoryLimit> memory_;
};

}  // namespace proxy::server
