#include "proxy/mirrors/answer_head.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/text.hpp"

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

// Whether the line is one that a Hugging Face client follows past every mirror.
bool leads_around(std::string_view name, std::string_view value) {
  return http::same_word(name, "Link") && http::lower(value).find("xet-auth") != value.npos;
}

}  // namespace

std::string harmless_head(std::string_view head) {
  std::string out;
  out.reserve(head.size() + 128);
  out += http::take_line(head);
  while (!head.empty()) {
    const auto line = http::take_line(head);
    const auto name = line.substr(0, line.find(':'));
    const auto value = line.substr(std::min(name.size() + 1, line.size()));
    if (http::has_word(kDropped, name) || leads_around(name, value)) continue;
    out += line;
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
