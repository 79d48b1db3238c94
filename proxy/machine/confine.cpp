#include "proxy/machine/confine.hpp"

#include <string_view>

#include "proxy/machine/sandbox.hpp"

namespace proxy::sandbox {
namespace {

// Why the proxy would serve without the sandbox; empty if it would serve inside.
std::string_view reason_for_none(const config::Settings& settings) {
  if (!settings.sandbox) return "sandbox: off, by the setting \"sandbox\"";
  if (kSanitized) return "sandbox: off, in a build with a sanitizer";
  return {};
}

}  // namespace

std::string confine(const config::Settings& settings, const std::string& settings_file) {
  if (const auto reason = reason_for_none(settings); !reason.empty()) return std::string(reason);
  return describe(enter(grants_for(settings, settings_file)));
}

std::vector<std::string> preview(const config::Settings& settings,
                                 const std::string& settings_file) {
  if (const auto reason = reason_for_none(settings); !reason.empty()) return {std::string(reason)};
  const auto parts = available();
  std::vector<std::string> lines{describe(parts)};
  auto writes = describe(grants_for(settings, settings_file));
  if (parts.files > 0 && !writes.empty()) lines.push_back(std::move(writes));
  return lines;
}

}  // namespace proxy::sandbox
