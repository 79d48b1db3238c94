#include "config/load.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "config/environment.hpp"
#include "config/sections.hpp"
#include "config/settings_files.hpp"

namespace config {

namespace {

SettingsError located(Fault fault, std::span<const std::string> files) {
  std::string where = fault.at.file < files.size() ? files[fault.at.file] + ", " : "";
  where += "line " + std::to_string(fault.at.line) + ", column " + std::to_string(fault.at.column);
  if (!fault.path.empty()) where += ", " + fault.path;
  return {std::move(where), std::move(fault.what)};
}

SettingsErrors in_order(Faults faults, std::span<const std::string> files) {
  const auto place = [](const Fault& fault) { return std::pair(fault.at.file, fault.at); };
  std::stable_sort(faults.begin(), faults.end(),
                   [&](const Fault& a, const Fault& b) { return place(a) < place(b); });
  SettingsErrors errors;
  for (Fault& fault : faults) errors.push_back(located(std::move(fault), files));
  return errors;
}

}  // namespace

boost::system::result<Settings, SettingsErrors> load(std::string_view json_text) {
  Faults faults;
  Settings settings;
  auto document = parse_document(json_text, faults);
  if (document && insert_environment(*document, faults))
    settings = read_settings(*document, faults);
  if (!faults.empty()) return in_order(std::move(faults), {});
  return settings;
}

boost::system::result<Settings, SettingsErrors> load_file(const std::string& path) {
  std::string why;
  const auto text = read_text(path, why);
  if (!text) return SettingsErrors{{path, why}};
  Faults faults;
  Settings settings;
  std::vector<std::string> files;
  const auto document = read_files(path, *text, files, faults);
  if (document) settings = read_settings(*document, faults);
  if (!faults.empty()) return in_order(std::move(faults), files);
  settings.included.assign(files.begin() + 1, files.end());
  return settings;
}

}  // namespace config
