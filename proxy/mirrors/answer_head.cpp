#include "proxy/mirrors/answer_head.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/text.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/mirrors/mirrored_url.hpp"

namespace proxy::mirrors {
namespace {

// The fields that would act on our own origin, and the one that is written anew.
constexpr std::array<std::string_view, 13> kDropped{"Set-Cookie",
                                                    "Set-Cookie2",
                                                    "Strict-Transport-Security",
                                                    "Alt-Svc",
                                                    "Clear-Site-Data",
                                                    "Public-Key-Pins",
                                                    "NEL",
                                                    "Report-To",
                                                    "Reporting-Endpoints",
                                                    "Service-Worker-Allowed",
                                                    "Refresh",
                                                    "Location",
                                                    "X-Content-Type-Options"};

constexpr std::array<std::string_view, 2> kChallenges{"WWW-Authenticate", "Authentication-Info"};

// The URL of a link, as the client finds it.
void append_url(std::string& out, std::string_view url, const Place& place) {
  const bool is_whole =
      url.starts_with(place.origin) && url.substr(place.origin.size()).starts_with('/');
  if (is_whole) url.remove_prefix(place.origin.size());
  const bool is_path = url.starts_with('/') && !url.starts_with("//");
  if (is_path) out += place.ours;
  if (!is_path || place.registry.empty() || !is_registry_path(url)) {
    out += url;
  } else if (place.by_parameter) {
    ((out += url) += url.find('?') == url.npos ? "?ns=" : "&ns=") += place.registry;
  } else {
    ((out += "/v2/") += place.registry) += url.substr(3);
  }
}

// RFC 8288 3: each target stands in angle brackets.
void append_links(std::string& out, std::string_view line, const Place& place) {
  for (;;) {
    const auto open = line.find('<');
    const auto close = line.find('>', std::min(open, line.size()));
    if (close == line.npos) break;
    out += line.substr(0, open + 1);
    append_url(out, line.substr(open + 1, close - open - 1), place);
    line.remove_prefix(close);
  }
  out += line;
}

}  // namespace

bool leads_around(std::string_view name, std::string_view value) {
  constexpr std::string_view kXet = "X-Xet-";
  if (http::same_word(name.substr(0, kXet.size()), kXet)) return true;
  const auto says = [&value](std::string_view word) {
    return http::lower(value).find(word) != value.npos;
  };
  return (http::same_word(name, "Link") && says("xet-auth")) ||
         (http::same_word(name, "Accept") && says("vnd.xet-"));
}

std::string_view path_in(std::string_view asked) {
  const auto scheme_end = asked.find("://");
  if (!asked.starts_with('/') && scheme_end != asked.npos)
    asked.remove_prefix(std::min(asked.find('/', scheme_end + 3), asked.size()));
  return asked;
}

Place place_of(std::string_view asked, std::string_view base, const http::Target& url) {
  asked = path_in(asked);
  asked.remove_prefix(digest_front(asked).size());
  if (base.empty()) return {};
  Place place{.origin = std::string(url.scheme()).append("://").append(url.authority()),
              .ours = std::string(base),
              .base = std::string(base)};
  if (auto image = AskedImage::parse(asked)) {
    place.registry = std::move(image->registry);
    place.by_parameter = image->by_parameter;
    return place;
  }
  const auto path = url.asked_path();
  const auto plain = asked.ends_with(path) ? std::string() : with_plain_slashes(asked);
  if (!plain.empty()) asked = plain;
  if (!asked.ends_with(path)) return {};
  asked.remove_suffix(path.size());
  place.ours += asked;
  return place;
}

std::string harmless_head(std::string_view head, const Place& place) {
  std::string out;
  out.reserve(head.size() + 128);
  out += http::take_line(head);
  while (!head.empty()) {
    const auto line = http::take_line(head);
    const auto name = line.substr(0, line.find(':'));
    const auto value = line.substr(std::min(name.size() + 1, line.size()));
    const bool is_dropped = http::has_word(kDropped, name) || leads_around(name, value) ||
                            (place.is_browser && http::has_word(kChallenges, name));
    if (is_dropped) continue;
    if (http::same_word(name, "Link") && !place.ours.empty()) {
      append_links(out, line, place);
    } else {
      out += line;
    }
  }
  out += "X-Content-Type-Options: nosniff\r\n";
  // Also in a 304: its fields replace those of the page that a browser has (RFC 9111 3.2).
  out += "Content-Security-Policy: sandbox; default-src 'none'\r\n";
  return out;
}

void add_image_digest(std::string& head, std::string_view digest) {
  constexpr std::string_view kName = "Docker-Content-Digest: ";
  if (digest.empty() || http::lower(head).find("\n" + http::lower(kName)) != head.npos) return;
  ((head += kName) += digest) += "\r\n";
}

}  // namespace proxy::mirrors
