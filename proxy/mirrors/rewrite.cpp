#include "proxy/mirrors/rewrite.hpp"

#include <openssl/evp.h>

#include <array>

#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/mirrors/html_anchors.hpp"
#include "proxy/mirrors/json_members.hpp"
#include "proxy/mirrors/linked_file.hpp"

namespace proxy::mirrors {
namespace {

constexpr std::array<std::string_view, 6> kOfTheOldText{"ETag",   "Content-MD5", "Content-Digest",
                                                        "Digest", "Repr-Digest", "Accept-Ranges"};

std::string_view name_of(std::string_view line) {
  return line.substr(0, line.find(':'));
}

template <class Dropped>
std::string without_lines(std::string_view head, const Dropped& is_dropped) {
  std::string out(http::take_line(head));
  while (!head.empty()) {
    const auto line = http::take_line(head);
    if (!is_dropped(name_of(line))) out += line;
  }
  return out;
}

// 128 bits of the text's SHA-256.
std::string tag_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  std::string tag("\"");
  for (std::size_t i = 0; i < 16; ++i) {
    tag += kDigits[hash[i] >> 4U];
    tag += kDigits[hash[i] & 15U];
  }
  return tag += '"';
}

// RFC 9110 8.3 to 8.6 and 14.4, RFC 9530 and RFC 1864.
bool describes_text(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames{
      "Content-Type", "Content-Encoding", "Content-Language", "Content-Length", "Content-Range",
      "Content-MD5",  "Content-Digest",   "Digest",           "Repr-Digest"};
  return http::has_word(kNames, name);
}

}  // namespace

Rewritable is_rewritable(std::string_view head, unsigned status, const TextChange& change) {
  const auto type = value_of_field(head, "Content-Type");
  const auto media = http::lower(http::trim(type.substr(0, type.find(';'))));
  const bool is_json = media == "application/json" || media.ends_with("+json");
  const bool is_html = !change.links.empty() && (media == "text/html" || media.ends_with("+html"));
  if (status != 200 || !(is_json || is_html)) return Rewritable::no;
  const auto coding = value_of_field(head, "Content-Encoding");
  const bool is_plain = coding.empty() || http::same_word(coding, "identity");
  if (!is_plain) return Rewritable::coded;
  return is_json ? Rewritable::json : Rewritable::html;
}

std::size_t memory_to_rewrite(std::size_t size, const TextChange& change) {
  return change.links.empty() ? size : size + Edits::most_memory(size);
}

std::optional<std::string> rewrite(std::string_view head, std::string& body,
                                   const TextChange& change) {
  const auto size = body.size();
  const bool is_html = is_rewritable(head, 200, change) == Rewritable::html;
  const bool is_changed =
      is_html ? change_anchors(body, change.link)
              : change.links.empty() || change_links(body, change.links, change.link);
  if (!is_changed || (!is_html && !drop_members(body, change.dropped))) return std::nullopt;
  // Links are mostly changed, so a text with links gets a tag of its own in any case.
  if (change.links.empty() && body.size() == size) return std::string(head);
  auto anew = head_of_unseen(head);
  ((anew += "ETag: ") += tag_of(body)) += "\r\n";
  return anew;
}

std::string head_of_unseen(std::string_view head) {
  return without_lines(head, [](auto name) { return http::has_word(kOfTheOldText, name); });
}

// Cache-Status is a list of the caches on the way, so the word joins what this proxy has said.
std::string fields_of_original(std::string_view fields) {
  constexpr std::string_view kWord = "not-rewritten";
  std::string out;
  while (!fields.empty()) {
    std::string line(http::take_line(fields));
    const bool is_status = http::same_word(name_of(line), "Cache-Status") && line.ends_with("\r\n");
    if (is_status) {
      line.resize(line.size() - 2);
      const bool has_words = line.ends_with('"') && line.find("; detail=\"") != line.npos;
      if (has_words) line.back() = ' ';
      line.append(has_words ? "" : "; detail=\"").append(kWord).append("\"\r\n");
    }
    out += line;
  }
  return out;
}

std::optional<std::string> unchanged_head(std::string_view head, std::string_view none_match) {
  const auto tag = value_of_field(head, "ETag");
  if (tag.empty() || none_match.empty() || !http::names_tag(none_match, tag)) return std::nullopt;
  const auto lines = head.substr(head.find('\n') + 1);
  return without_lines(std::string("HTTP/1.1 304 Not Modified\r\n").append(lines), describes_text);
}

}  // namespace proxy::mirrors
