#include "proxy/server/reloading.hpp"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "proxy/observe/events.hpp"

namespace proxy {
namespace {

// A log, a list or an included file may be new.
void tell_of_sandbox(std::string& what) {
  if (!what.ends_with(std::generic_category().message(EACCES))) return;
  what += " (the sandbox knows the folders of the start alone)";
}

}  // namespace

Reloaded Reloading::reload() {
  // A process that ends has given up what settings could change, and its successor follows them.
  const auto& process = engine_.process();
  if (process.leaving || process.draining) {
    return {file_.path(), {{file_.path(), "this process is ending, and reads no settings"}}, {}};
  }
  supervisor_.reloading();
  auto reloaded = follow_file();
  supervisor_.reloaded();
  return reloaded;
}

Reloaded Reloading::follow_file() {
  auto reread = file_.read_again(*engine_.policy());
  auto errors = reread ? follow_log(reread->policy->settings.log) : reread.error();
  if (!errors.empty()) {
    for (auto& error : errors) tell_of_sandbox(error.what);
    for (const auto& error : errors) spdlog::error("{}: {}", error.where, error.what);
    answers().error("the settings were not reloaded: those in force stay, until {} is mended",
                    file_.path());
    return {file_.path(), std::move(errors), {}};
  }
  if (!engine_.read_certificates()) {
    spdlog::warn(
        "the certificates to trust cannot be read any more, and those read before stay: "
        "look at SSL_CERT_FILE, and reload again");
  }
  engine_.follow(std::move(reread->policy));
  if (!reread->waiting.empty()) {
    spdlog::warn("{} changed, which needs a restart: restart the service to follow",
                 fmt::join(reread->waiting, ", "));
  }
  answers().info("the settings were reloaded from {}", file_.path());
  return {file_.path(), {}, std::move(reread->waiting)};
}

config::SettingsErrors Reloading::follow_log(const config::LogSettings& settings) {
  if (settings == engine_.policy()->settings.log) return {};
  try {
    engine_.log().follow(AccessLog::Output(settings));
  } catch (const std::system_error& error) {
    return {{file_.path(), error.what()}};
  }
  format_events(settings.events);
  return {};
}

}  // namespace proxy
