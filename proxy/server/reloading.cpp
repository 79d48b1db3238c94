#include "proxy/server/reloading.hpp"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
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

bool is_mapped(const std::vector<config::Reverse>& mappings, const upstream::Endpoint& origin) {
  return std::any_of(mappings.begin(), mappings.end(), [&](const config::Reverse& one) {
    return std::any_of(one.to.begin(), one.to.end(), [&](const config::Origin& to) {
      return to.tls == origin.tls && to.host == origin.host && to.port == origin.port;
    });
  });
}

}  // namespace

Reloaded Reloading::reload() {
  // A process that ends has given up what settings could change, and its successor follows them.
  const auto& shared = engine_.shared();
  if (shared.instance.leaving || shared.instance.draining) {
    return {file_.path(), {{file_.path(), "this process is ending, and reads no settings"}}, {}};
  }
  supervisor_.reloading(shared.cache.clock.steady());
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
    note_faults(errors);
    return {file_.path(), std::move(errors), {}};
  }
  auto& fault = engine_.shared().observed.settings_fault;
  fault.mended();
  if (!engine_.read_certificates()) {
    constexpr const char* kNoCertificates =
        "the certificates to trust cannot be read any more, and those read before stay: "
        "look at SSL_CERT_FILE, and reload again";
    spdlog::warn(kNoCertificates);
    fault.found(kNoCertificates, std::chrono::steady_clock::now());
  }
  const bool maps_others = reread->policy->settings.reverse != engine_.policy()->settings.reverse;
  engine_.follow(std::move(reread->policy));
  if (maps_others) {
    const auto& mappings = engine_.policy()->settings.reverse;
    engine_.shared().upstream.health.forget_mapped(
        [&](const upstream::Endpoint& origin) { return is_mapped(mappings, origin); });
  }
  if (!reread->waiting.empty()) {
    spdlog::warn("{} changed, which needs a restart: restart the service to follow",
                 fmt::join(reread->waiting, ", "));
  }
  answers().info("the settings were reloaded from {}", file_.path());
  return {file_.path(), {}, std::move(reread->waiting)};
}

void Reloading::note_faults(const config::SettingsErrors& errors) {
  const auto& first = errors.front();
  auto text = fmt::format("the settings were not reloaded, and those in force stay: {}: {}",
                          first.where, first.what);
  if (errors.size() > 1) text += fmt::format(" (and {} more)", errors.size() - 1);
  text += fmt::format("; mend {}, and reload again", file_.path());
  engine_.shared().observed.settings_fault.found(std::move(text), std::chrono::steady_clock::now());
}

config::SettingsErrors Reloading::follow_log(const config::LogSettings& settings) {
  if (settings == engine_.policy()->settings.log) return {};
  try {
    engine_.log().follow(AccessLog::Output(settings));
  } catch (const std::system_error& error) {
    const auto advice = log_advice(error.code(), settings.path).text;
    return {{file_.path(), error.what() + (advice.empty() ? "" : "; " + advice)}};
  }
  format_events(settings.events);
  return {};
}

}  // namespace proxy
