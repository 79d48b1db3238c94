// The key of a line, as the proxies compute it.
#pragma once

#include <cstdint>
#include <string_view>

#include "digest/key.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

enum class Spelling : std::uint8_t {
  url,       // made canonical first, as the proxy does
  verbatim,  // the bytes as they stand: any text can be a member
};

// The key under which a GET for the URL is stored and claimed, by us and by Squid. A fragment is
// cut off: no client sends it. Trouble, without its place, for what is not an absolute http or
// https URL that a client could send.
Result<digest::Key> key_of(std::string_view line, Spelling spelling);

}  // namespace proxy::command
