#include "proxy/users/password_file.hpp"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <memory>

#include "config/text.hpp"

namespace proxy::users {
namespace {

constexpr std::size_t kLargest = 16 << 20;
constexpr std::size_t kMostFaults = 10;

config::SettingsErrors fault_of(const std::string& path, std::string what) {
  return {{path, std::move(what)}};
}

constexpr std::string_view kWanted =
    "; expected bcrypt (\"htpasswd -B\") or SHA-512 (\"mkpasswd -m sha-512\")";

// A check of more would take a core for longer than a client waits.
constexpr std::uint64_t kHighestCost = 15;
constexpr std::uint64_t kMostRounds = 1'000'000;

// The digits of crypt(5): ".", "/", digits and letters, which stand together in ASCII from "." on.
bool is_hash_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '.' && c <= '9');
  });
}

// $2y$COST$ and 22 characters of salt, 31 of hash.
std::optional<std::string> why_no_bcrypt(std::string_view hash) {
  const auto cost = config::parse_number(hash.substr(4, 2), 99);
  if (hash.size() != 60 || hash[6] != '$' || !cost || *cost < 4 || !is_hash_text(hash.substr(7))) {
    return "is no whole bcrypt hash";
  }
  if (*cost <= kHighestCost) return std::nullopt;
  return "has a bcrypt cost of " + std::to_string(*cost) + ", and a check would take too long; " +
         std::to_string(kHighestCost) + " is the most";
}

// $6$[rounds=N$]SALT$ and 86 characters of hash.
std::optional<std::string> why_no_sha512(std::string_view hash) {
  constexpr std::string_view kRounds = "rounds=";
  auto rest = hash.substr(3);
  if (rest.starts_with(kRounds)) {
    const auto end = std::min(rest.find('$'), rest.size());
    const auto rounds =
        config::parse_number(rest.substr(kRounds.size(), end - kRounds.size()), 999'999'999);
    if (!rounds || *rounds < 1000) return "is no whole SHA-512 hash";
    if (*rounds > kMostRounds) return "has too many rounds; 1000000 is the most";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto salt = rest.find('$');
  const bool whole = salt != rest.npos && salt <= 16 && is_hash_text(rest.substr(0, salt)) &&
                     rest.size() - salt - 1 == 86 && is_hash_text(rest.substr(salt + 1));
  if (whole) return std::nullopt;
  return "is no whole SHA-512 hash";
}

}  // namespace

std::optional<std::string> why_not_accepted(std::string_view hash) {
  for (const std::string_view prefix : {"$2a$", "$2b$", "$2y$"}) {
    if (hash.starts_with(prefix)) return why_no_bcrypt(hash);
  }
  if (hash.starts_with("$6$")) return why_no_sha512(hash);
  std::string_view what = "is a plain password, or hashed by DES crypt";
  if (hash.starts_with("$apr1$") || hash.starts_with("$1$"))
    what = "is hashed by MD5";
  else if (hash.starts_with("{SHA}"))
    what = "is hashed by SHA-1";
  else if (hash.starts_with('$') || hash.starts_with('{'))
    what = "has a hash of another kind";
  return std::string(what) + std::string(kWanted);
}

std::string cost_of(std::string_view hash) {
  constexpr std::string_view kDefault = "rounds=5000";
  if (!hash.starts_with("$6$")) return "bcrypt " + std::string(hash.substr(4, 2));
  const auto rounds = hash.substr(3, hash.find('$', 3) - 3);
  return "SHA-512 " + std::string(rounds.starts_with("rounds=") ? rounds : kDefault);
}

bool has_hash(const std::string& password, const std::string& hash) {
  // Its own state, since crypt(3) has one for all threads.
  const auto data = std::make_unique<crypt_data>();  // 32 KiB of zeros
  const char* const computed = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  if (!computed) return false;
  const std::string_view text(computed);
  const bool same =
      text.size() == hash.size() && CRYPTO_memcmp(text.data(), hash.data(), hash.size()) == 0;
  // It has computed with the password.
  OPENSSL_cleanse(data.get(), sizeof *data);
  return same;
}

boost::system::result<PasswordFile, config::SettingsErrors> PasswordFile::parse(
    std::string_view text, const std::string& path) {
  PasswordFile file;
  config::SettingsErrors faults;
  for (std::size_t number = 1; !text.empty() && faults.size() < kMostFaults; ++number) {
    auto line = config::take_until(text, '\n');
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
