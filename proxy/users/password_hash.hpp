// Hashed passwords, as htpasswd and crypt(5) write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proxy::users {

// Why the hash is not accepted, for a person; nothing if it is. Accepted are bcrypt ($2a$, $2b$,
// $2y$) with a cost of at most 15, and SHA-512 ($6$) with at most 1,000,000 rounds: one check takes
// two seconds at most. The text does not contain the hash.
std::optional<std::string> why_not_accepted(std::string_view hash);

// What a check of the hash, which is accepted, costs: two hashes with the same text here take the
// same time.
std::string cost_of(std::string_view hash);

// Whether the password has this hash, which is accepted. Takes milliseconds to seconds, as the cost
// says; the time tells nothing of the password. bcrypt ignores all bytes of a password beyond 72.
// Any thread.
bool has_hash(const std::string& password, const std::string& hash);

}  // namespace proxy::users
