#include "proxy/mirrors/rewrite.hpp"

#include <openssl/evp.h>

#include <array>

#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"
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

Rewritable is_rewritable(std::string_view head, unsigned status) {
  const auto type = value_of_field(head, "Content-Type");
  const auto media = http::lower(http::trim(type.substr(0, type.find(';'))));
  const bool is_json = media == "application/json" || media.ends_with("+json");
  if (status != 200 || !is_json) return Rewritable::no;
  const auto coding = value_of_field(head, "Content-Encoding");
  const bool is_plain = coding.empty() || http::same_word(coding, "identity");
  return is_plain ? Rewritable::yes : Rewritable::coded;
}

std::optional<std::string> rewrite(std::string_view head, std::string& body,
                                   std::span<const std::string> members) {
  const auto size = body.size();
  if (!drop_members(body, members)) return std::nullopt;
  if (body.size() == size) return std::string(head);
  auto anew = head_of_unseen(head);
  ((anew += "ETag: ") += tag_of(body)) += "\r\n";
  return anew;
}

std::string head_of_unseen(std::string_view head) {
  return without_lines(head, [](auto name) { return http::has_word(kOfTheOldText, name); });
}

std::optional<std::string> unchanged_head(std::string_view head, std::string_view none_match) {
  const auto tag = value_of_field(head, "ETag");
  if (tag.empty() || none_match.empty() || !http::names_tag(none_match, tag)) return std::nullopt;
  const auto lines = head.substr(head.find('\n') + 1);
  return without_lines(std::string("HTTP/1.1 304 Not Modified\r\n").append(lines), describes_text);
}

}  // namespace proxy::mirrors
