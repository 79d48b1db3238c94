#include "proxy/command/digest/url_key.hpp"

#include <fmt/format.h>

#include "config/text.hpp"
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

}  // namespace proxy::command
