// Keys of URLs, as proxies store and claim them, and of lines of any kind.
#pragma once

#include <cstdint>
#include <string_view>

#include "digest/key.hpp"
#include "digest/siphash.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

enum class Spelling : std::uint8_t {
  url,       // the line is a URL, which is made canonical first, as the proxy does
  verbatim,  // the bytes as they are: any text can be a member
};

// Returns the key under which Hearsay and Squid store and claim a GET for the URL. Cuts off a
// fragment, since no client sends it. Returns trouble for a line that is no absolute http or https
// URL that a client could send; the text lacks the place of the line.
Result<digest::Key> key_of(std::string_view line, Spelling spelling);

// 16 random bytes from the system, so that no input can contain lines chosen to collide in this
// run's filters.
digest::Salt random_salt();

// The key of a line, valid for this run only.
digest::Key line_key(const digest::Salt& salt, std::string_view line);

}  // namespace proxy::command
