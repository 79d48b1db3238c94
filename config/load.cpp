#include "config/load.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "config/sections.hpp"

namespace config {

namespace {

SettingsError located(Fault fault) {
  std::string where =
      "line " + std::to_string(fault.at.line) + ", column " + std::to_string(fault.at.column);
  if (!fault.path.empty()) where += ", " + fault.path;
  return {std::move(where), std::move(fault.what)};
}

SettingsErrors in_order(Faults faults) {
  std::stable_sort(faults.begin(), faults.end(),
                   [](const Fault& a, const Fault& b) { return a.at < b.at; });
  SettingsErrors errors;
  for (Fault& fault : faults) errors.push_back(located(std::move(fault)));
  return errors;
}

// Whether to open it might wait for ever: a pipe, a terminal.
bool may_wait(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

boost::system::result<Settings, SettingsErrors> load(std::string_view json_text) {
  Faults faults;
  Settings settings;
  if (const auto document = parse_document(json_text, faults)) {
    settings = read_settings(*document, faults);
  }
  if (!faults.empty()) return in_order(std::move(faults));
  return settings;
}

boost::system::result<Settings, SettingsErrors> load_file(const std::string& path) {
  if (may_wait(path)) return SettingsErrors{{path, "is no regular file"}};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestSettings + 1, '\0');  // load() refuses a text that fills the last byte
  if (file.is_open()) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    const std::string reason = std::generic_category().message(errno);
    return SettingsErrors{{path, "cannot be read: " + reason}};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto settings = load(text);
  if (settings.has_value()) return settings;
  SettingsErrors errors = settings.error();
  for (SettingsError& error : errors) error.where = path + ", " + error.where;
  return errors;
}

}  // namespace config
