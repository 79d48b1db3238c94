// Keys for lines of any kind, valid for this run only.
#pragma once

#include <span>
#include <string_view>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "digest/siphash.hpp"

namespace proxy::command {

// 16 random bytes from the system, so that no input can contain lines chosen to collide in this
// run's filters. Throws std::system_error if the system has none.
digest::Salt random_salt();

inline digest::Key line_key(const digest::Salt& salt, std::string_view line) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  const digest::SipHash128 hash(salt, std::span(bytes, line.size()));
  digest::Key key;
  digest::store64(key.bytes.data(), hash.low());
  digest::store64(key.bytes.data() + 8, hash.high());
  return key;
}

}  // namespace proxy::command
