#include "proxy/mirrors/answer_head.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

// The fields that would act on our own origin, and the one that is written anew.
constexpr std::array<std::string_view, 12> kDropped{"Set-Cookie",
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
                                                    "X-Content-Type-Options"};

// The types that browsers run nothing of. All others may be documents with scripts.
constexpr std::array<std::string_view, 6> kHarmlessMajors{"image/", "audio/", "video/",
                                                          "font/",  "text/",  "application/"};
constexpr std::array<std::string_view, 6> kDocuments{"text/html",       "text/xml",
                                                     "text/xsl",        "application/xml",
                                                     "application/pdf", "application/xhtml+xml"};

bool is_document(std::string_view content_type) {
  const auto type = http::lower(http::trim(content_type.substr(0, content_type.find(';'))));
  const auto begins_type = [&type](std::string_view major) {
    return type.starts_with(major) && http::is_token(std::string_view(type).substr(major.size()));
  };
  if (std::ranges::none_of(kHarmlessMajors, begins_type)) return true;
  return type.ends_with("+xml") || std::ranges::find(kDocuments, type) != kDocuments.end();
}

// Whether the line is one that a Hugging Face client follows past every mirror.
bool leads_around(std::string_view name, std::string_view value) {
  return http::same_word(name, "Link") && http::lower(value).find("xet-auth") != value.npos;
}

// Takes the first line, with its CRLF.
std::string_view take_line(std::string_view& text) {
  const auto end = text.find("\r\n");
  const auto line = text.substr(0, end == text.npos ? end : end + 2);
  text.remove_prefix(line.size());
  return line;
}

}  // namespace

std::string harmless_head(std::string_view head) {
  std::string out;
  out.reserve(head.size() + 128);
  out += take_line(head);
  std::string_view content_type;
  std::size_t types = 0;
  while (!head.empty()) {
    const auto line = take_line(head);
    const auto name = line.substr(0, line.find(':'));
    const auto value = line.substr(std::min(name.size() + 1, line.size()));
    if (http::same_word(name, "Content-Type")) {
      content_type = value.substr(0, value.find('\r'));
      ++types;
    }
    if (http::has_word(kDropped, name) || leads_around(name, value)) continue;
    out += line;
  }
  out += "X-Content-Type-Options: nosniff\r\n";
  // Also in a 304, which mostly has no type: its fields replace those of the page that a browser
  // has (RFC 9111 3.2), a policy too.
  if (types != 1 || is_document(content_type)) {
    out += "Content-Security-Policy: sandbox; default-src 'none'\r\n";
  }
  return out;
}

}  // namespace proxy::mirrors
