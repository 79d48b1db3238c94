// The file of users that access.users names, and the hashed passwords in it, as htpasswd and
// crypt(5) write them.
#pragma once

#include <boost/system/result.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "config/load.hpp"
#include "digest/keyed_hash.hpp"

namespace proxy::users {

// Why the hash is not accepted, for a person; nothing if it is. Accepted are bcrypt ($2a$, $2b$,
// $2y$) with a cost of at most 15, and SHA-512 ($6$) with at most 1,000,000 rounds: one check takes
// two seconds at most. The text does not contain the hash.
std::optional<std::string> why_not_accepted(std::string_view hash);

// Names the cost of a check of the hash, which is accepted: two hashes with the same text here take
// the same time.
std::string cost_of(std::string_view hash);

// Whether the password has this hash, which is accepted. Takes milliseconds to seconds, as the cost
// says; the time tells nothing of the password. bcrypt ignores all bytes of a password beyond 72.
// Any thread.
bool has_hash(const std::string& password, const std::string& hash);

// The users of a file and their hashes, all of an accepted kind. Immutable once read, so that any
// thread may use it.
class PasswordFile {
 public:
  // Each line is NAME:HASH, and perhaps more fields, which are skipped. So are empty lines and
  // those that begin with `#`. Returns the faults with their lines, at most ten; they show no hash.
  // `path`: for the faults.
  static boost::system::result<PasswordFile, config::SettingsErrors> parse(std::string_view text,
                                                                           const std::string& path);
  // Reads a file of at most 16 MiB. Blocks.
  static boost::system::result<PasswordFile, config::SettingsErrors> read(const std::string& path);

  // The user's hash. Null: no such user.
  [[nodiscard]] const std::string* hash_of(const std::string& name) const;
  // One hash of each cost (cost_of()) that the file has. Of more than kMostCosts costs, the first
  // ones.
  [[nodiscard]] const std::map<std::string, std::string>& hash_by_cost() const { return by_cost_; }
  static constexpr std::size_t kMostCosts = 12;  // bcrypt has so many

 private:
  std::unordered_map<std::string, std::string, digest::TextHash> hashes_;  // by name; never empty
  std::map<std::string, std::string> by_cost_;
};

}  // namespace proxy::users
