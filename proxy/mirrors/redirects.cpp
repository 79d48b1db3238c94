#include "proxy/mirrors/redirects.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/http/secrets.hpp"
#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

// The URL as the server is asked for it: "/a%2Bb" and "/a+b" are two to some servers.
std::string spelled(const http::Target& url) {
  return std::string(url.scheme()).append("://").append(url.authority()).append(url.asked_path());
}

}  // namespace

bool is_redirect(unsigned status) {
  constexpr std::array kStatuses{301U, 302U, 303U, 307U, 308U};
  return std::ranges::find(kStatuses, status) != kStatuses.end();
}

Redirect Redirects::judge(const http::ResponseHead& answer,
                          const std::function<bool(const http::Target&)>& may_ask) {
  if (!is_redirect(answer.status)) return Redirect::none;
  if (answer.fields.count(http::field::location) != 1) return Redirect::no_target;
  auto to = http::resolve(last(), answer.fields.value(http::field::location));
  if (!to || to->had_userinfo()) return Redirect::no_target;
  const bool is_insecure = last().https() && !to->https();
  if (is_insecure || !may_ask(*to)) return Redirect::leads_out;
  const bool is_known = std::ranges::find(urls_, spelled(*to), spelled) != urls_.end();
  if (is_known || urls_.size() > kMost) return Redirect::circle;
  urls_.push_back(std::move(*to));
  return Redirect::followed;
}

std::string bounding_control(const http::CacheControl& own, std::chrono::seconds lifetime,
                             const SaidOnTheWay& said) {
  constexpr std::chrono::seconds kZero{0};
  if (!said.may_be_kept) return "no-store";
  const auto stale =
      std::max(own.stale_while_revalidate.value_or(kZero), own.stale_if_error.value_or(kZero));
  if (lifetime + stale <= said.lasts) return {};
  const bool names_fields = !own.private_fields.empty() || !own.no_cache_fields.empty();
  if (own.no_store || own.private_ || own.targeted || names_fields) return "no-store";
  const std::pair<bool, std::string_view> kept[] = {{own.public_, "public, "},
                                                    {own.no_cache, "no-cache, "},
                                                    {own.must_revalidate, "must-revalidate, "},
                                                    {own.proxy_revalidate, "proxy-revalidate, "},
                                                    {own.no_transform, "no-transform, "}};
  std::string control;
  for (const auto& [is_said, directive] : kept) control += is_said ? directive : "";
  const auto bounded = [&said](std::chrono::seconds most) {
    return std::to_string(std::min(most, said.lasts).count());
  };
  // Of s-maxage alone, clients know nothing.
  control += "max-age=" + bounded(own.max_age.value_or(own.s_maxage ? kZero : lifetime));
  if (own.s_maxage) control += ", s-maxage=" + bounded(*own.s_maxage);
  return control;
}

http::Fields fields_for_first(const http::Fields& answer, const Redirects& way,
                              const WrittenAnew& anew) {
  using http::field;
  http::Fields fields;
  const auto add = [&fields](field id, std::string_view name, std::string_view value) {
    if (!value.empty()) fields.append(id, name, value);
  };
  for (const auto& line : answer) {
    const bool is_control =
        line.id == field::cache_control || http::has_word(anew.targeted, line.name);
    if (is_control && !anew.control.empty()) continue;
    if (line.id == field::location && !anew.location.empty()) continue;
    if (line.id == field::vary && line.value == anew.vary) continue;  // of the one redirect
    if (line.id == field::set_cookie && !http::same_origin(way.first(), way.last())) continue;
    if (anew.linked && anew.linked->replaces(line)) continue;
    fields.append(line);
  }
  if (anew.linked) anew.linked->append_to(fields);
  add(field::cache_control, "Cache-Control", anew.control);
  add(field::vary, "Vary", anew.vary);
  add(field::location, "Location", anew.location);
  return fields;
}

std::string redirected_head(std::string_view head, const http::Target& from,
                            const http::Target& to) {
  const auto request_line = http::take_line(head);
  std::string out(request_line.substr(0, request_line.find(' ') + 1));
  ((out += to.asked_path()) += request_line.substr(request_line.rfind(' ')));
  ((out += "Host: ") += to.authority()) += "\r\n";
  while (!head.empty()) {
    const auto line = http::take_line(head);
    const auto name = line.substr(0, line.find(':'));
    if (http::same_word(name, "Host")) continue;
    if (!http::same_origin(from, to) && http::may_be_secret(name)) continue;
    out += line;
  }
  return out;
}

}  // namespace proxy::mirrors
