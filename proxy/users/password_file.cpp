#include "proxy/users/password_file.hpp"

#include "config/text.hpp"
#include "proxy/users/password_hash.hpp"

namespace proxy::users {
namespace {

constexpr std::size_t kLargest = 16 << 20;
constexpr std::size_t kMostFaults = 10;

config::SettingsErrors fault_of(const std::string& path, std::string what) {
  return {{path, std::move(what)}};
}

}  // namespace

boost::system::result<PasswordFile, config::SettingsErrors> PasswordFile::parse(
    std::string_view text, const std::string& path) {
  PasswordFile file;
  config::SettingsErrors faults;
  for (std::size_t number = 1; !text.empty() && faults.size() < kMostFaults; ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const auto fault = [&](std::string what) {
      faults.push_back({path + ", line " + std::to_string(number), std::move(what)});
    };
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    if (colon == line.npos || !config::is_user_name(name)) {
      fault("expected NAME:HASH, as htpasswd writes it");
      continue;
    }
    auto hash = line.substr(colon + 1);
    hash = hash.substr(0, hash.find(':'));
    if (const auto why = why_not_accepted(hash)) {
      fault("the password of " + config::in_quotes(name) + ' ' + *why);
      // htpasswd replaces a line; two of them come from an editor, and the second may be the newer
      // password.
    } else if (!file.hashes_.emplace(name, hash).second) {
      fault(config::in_quotes(name) + " is listed twice");
    } else if (file.by_cost_.size() < kMostCosts) {
      file.by_cost_.emplace(cost_of(hash), hash);
    }
  }
  if (faults.empty() && file.hashes_.empty()) return fault_of(path, "names no user");
  if (!faults.empty()) return faults;
  return file;
}

boost::system::result<PasswordFile, config::SettingsErrors> PasswordFile::read(
    const std::string& path) {
  const std::string named = path + " (setting access.users)";
  std::string why;
  const auto text = config::read_file(path, kLargest, why);
  if (!text) return fault_of(named, why);
  if (text->size() > kLargest) return fault_of(named, "is larger than 16 MiB");
  return parse(*text, named);
}

const std::string* PasswordFile::hash_of(const std::string& name) const {
  const auto found = hashes_.find(name);
  return found == hashes_.end() ? nullptr : &found->second;
}

}  // namespace proxy::users
