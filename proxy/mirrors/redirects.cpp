#include "proxy/mirrors/redirects.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

bool is_redirect(unsigned status) {
  constexpr std::array kStatuses{301U, 302U, 303U, 307U, 308U};
  return std::ranges::find(kStatuses, status) != kStatuses.end();
}

}  // namespace

Redirect Redirects::judge(const http::ResponseHead& answer, const MirroredHosts& hosts) {
  if (!is_redirect(answer.status)) return Redirect::none;
  if (answer.fields.count(http::field::location) != 1) return Redirect::no_target;
  auto to = http::resolve(asked_, answer.fields.value(http::field::location));
  if (!to || to->had_userinfo()) return Redirect::no_target;
  const bool is_insecure = asked_.https() && !to->https();
  if (is_insecure || !hosts.have(*to)) return Redirect::leads_out;
  const bool is_known = std::ranges::find(urls_, to->url()) != urls_.end();
  if (is_known || urls_.size() > kMost) return Redirect::circle;
  urls_.push_back(to->url());
  asked_ = std::move(*to);
  return Redirect::followed;
}

std::string redirected_head(std::string_view head, const http::Target& from,
                            const http::Target& to) {
  constexpr std::array<std::string_view, 2> kOfOneOrigin{"Authorization", "Cookie"};
  const auto take_line = [&head] {
    const auto line = head.substr(0, head.find("\r\n") + 2);
    head.remove_prefix(line.size());
    return line;
  };
  const auto request_line = take_line();
  std::string out(request_line.substr(0, request_line.find(' ') + 1));
  ((out += to.asked_path()) += request_line.substr(request_line.rfind(' ')));
  ((out += "Host: ") += to.authority()) += "\r\n";
  while (!head.empty()) {
    const auto line = take_line();
    const auto name = line.substr(0, line.find(':'));
    if (http::same_word(name, "Host")) continue;
    if (!http::same_origin(from, to) && http::has_word(kOfOneOrigin, name)) continue;
    out += line;
  }
  return out;
}

}  // namespace proxy::mirrors
