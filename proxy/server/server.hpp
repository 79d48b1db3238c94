// The whole proxy as one object: from its first connection to its orderly end.
#pragma once

#include <string>

#include "proxy/server/draining.hpp"
#include "proxy/server/engine.hpp"
#include "proxy/server/hand_over.hpp"
#include "proxy/server/reloading.hpp"
#include "proxy/server/settings_file.hpp"
#include "proxy/server/signals.hpp"
#include "proxy/server/take_over.hpp"
#include "proxy/server/watchdog.hpp"

namespace proxy {

// The processes around this one.
struct Surroundings {
  succession::Predecessor& predecessor;
  const succession::Launcher& launcher;
  const machine::Supervisor& supervisor;
  const ProcessFacts& facts;  // of this one
};

class Server {
 public:
  // Acquires what can fail: see Engine. Catches signals from now on. Serves no client yet. `policy`
  // was read from `file`. All references outlive the server.
  Server(PinnedPolicy policy, const SettingsFile& file, Sockets sockets,
         const Surroundings& around);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Says in the log what starts here: see start_report(). `limits`: what limits this process.
  void report_start(const std::string& limits) const;

  // Serves until SIGTERM or SIGINT, then drains: see Draining. SIGUSR1 reopens the access log.
  // SIGHUP reads the settings again. SIGUSR2 starts a program that takes over. For the main thread.
  void run();

 private:
  void heed_signals();
  void start();
  void accept_at_control_socket();
  // reload() for another thread, which awaits it.
  net::Task<Reloaded> reload_on_order();
  HandOver::Steps steps_of_hand_over();
  [[nodiscard]] std::vector<Watchdog::Watched> watched();
  void stop();

  Signals signals_;
  const SettingsFile& file_;
  ControlSocket& control_;
  const machine::Supervisor& supervisor_;
  Engine engine_;
  Reloading reloading_;
  Draining draining_;
  HandOver hand_over_;
  TakeOver take_over_;
  Watchdog watchdog_;
};

}  // namespace proxy
