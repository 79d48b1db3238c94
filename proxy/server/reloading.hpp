// A change of the settings without a restart.
#pragma once

#include "proxy/machine/service.hpp"
#include "proxy/pages/pages_access.hpp"
#include "proxy/server/engine.hpp"
#include "proxy/server/settings_file.hpp"

namespace proxy {

// For the main thread.
class Reloading {
 public:
  // All outlive this object.
  Reloading(const SettingsFile& file, Engine& engine, const machine::Supervisor& supervisor)
      : file_(file), engine_(engine), supervisor_(supervisor) {}

  // The engine follows the settings file, and the certificates it trusts, as they are now. If the
  // file has a fault, or the log cannot be opened, nothing changes. Says what is wrong, also in
  // /health until a reload succeeds, and which changes wait for a restart.
  Reloaded reload();

 private:
  Reloaded follow_file();
  void note_faults(const config::SettingsErrors& errors);
  // Returns what is wrong with the log that the settings name; nothing: it is in use.
  config::SettingsErrors follow_log(const config::LogSettings& settings);

  const SettingsFile& file_;
  Engine& engine_;
  const machine::Supervisor& supervisor_;
};

}  // namespace proxy
