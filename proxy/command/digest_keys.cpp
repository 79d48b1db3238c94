#include "proxy/command/digest_keys.hpp"

#include <fmt/format.h>

#include "config/text.hpp"
#include "digest/little_endian.hpp"
#include "digest/random_words.hpp"
#include "proxy/http/target.hpp"

namespace proxy::command {

Result<digest::Key> key_of(std::string_view line, Spelling spelling) {
  if (spelling == Spelling::verbatim) return digest::key_of(digest::Method::get, line);
  const auto target = http::parse_target("GET", line.substr(0, line.find('#')));
  if (target && target->form() == http::Target::Form::absolute) {
    return digest::key_of(digest::Method::get, target->url());
  }
  return Trouble{
      fmt::format("{} is no URL that a proxy could hold (http://HOST/PATH); --verbatim takes lines "
                  "of any kind as they stand",
                  config::in_quotes(line))};
}

digest::Salt random_salt() {
  const auto words = digest::unpredictable();
  digest::Salt salt{};
  digest::store64(salt.data(), words());
  digest::store64(salt.data() + 8, words());
  return salt;
}

digest::Key line_key(const digest::Salt& salt, std::string_view line) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  const digest::SipHash128 hash(salt, std::span(bytes, line.size()));
  digest::Key key;
  digest::store64(key.bytes.data(), hash.low());
  digest::store64(key.bytes.data() + 8, hash.high());
  return key;
}

}  // namespace proxy::command
