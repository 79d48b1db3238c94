#include "proxy/mirrors/linked_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "digest/base64.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::mirrors {
namespace {

constexpr std::string_view kEtag = "X-Linked-Etag";
constexpr std::string_view kSize = "X-Linked-Size";
constexpr std::array<std::string_view, 3> kTold{kEtag, kSize, "X-Repo-Commit"};
constexpr std::string_view kDigest = "Repr-Digest";

// RFC 9530 3, if the text is a SHA-256 in hexadecimal.
std::string digest_field(std::string_view hex) {
  std::array<std::uint8_t, 32> bytes{};
  if (hex.size() != 2 * bytes.size() || !http::all(http::kHex, hex)) return {};
  for (auto& byte : bytes) {
    std::from_chars(hex.data(), hex.data() + 2, byte, 16);
    hex.remove_prefix(2);
  }
  return "sha-256=:" + digest::to_base64(bytes) + ':';
}

// A redirect's fields that are about its own body, or lead to the storage (RFC 9110 8 and 10.2.2).
bool is_of_redirect(const http::Field& line) {
  constexpr std::array<std::string_view, 4> kNames{"Location", "ETag", "Last-Modified",
                                                   "Accept-Ranges"};
  constexpr std::string_view kContent = "Content-";
  return http::has_word(kNames, line.name) ||
         http::same_word(line.name.substr(0, kContent.size()), kContent);
}

}  // namespace

std::optional<LinkedFile> LinkedFile::told_by(const http::Fields& redirect) {
  LinkedFile file;
  file.etag_ = redirect.only_value(kEtag);
  const auto tag = http::parse_entity_tag(file.etag_);
  if (!tag || tag->weak) return std::nullopt;
  file.digest_ = digest_field(tag->opaque);
  if (const auto size = redirect.only_value(kSize); http::parse_decimal(size)) file.size_ = size;
  for (const auto& line : redirect) {
    if (http::has_word(kTold, line.name)) file.others_.emplace_back(line.name, line.value);
  }
  return file;
}

LinkedFile LinkedFile::named(std::string_view image_digest) {
  LinkedFile file;
  file.etag_ = std::string("\"").append(image_digest).append("\"");
  file.digest_ = digest_field(image_digest.substr(image_digest.find(':') + 1));
  file.others_.emplace_back("Accept-Ranges", "bytes");
  return file;
}

bool LinkedFile::replaces(const http::Field& line) const {
  const bool is_other = std::ranges::any_of(
      others_, [&line](const auto& other) { return http::same_word(other.first, line.name); });
  return is_other || line.id == http::field::etag || http::has_word(kTold, line.name) ||
         http::same_word(line.name, kDigest);
}

void LinkedFile::append_to(http::Fields& fields) const {
  fields.append(http::field::etag, "ETag", etag_);
  if (!digest_.empty()) fields.append(http::field::unknown, kDigest, digest_);
  for (const auto& [name, value] : others_) fields.append(name, value);
}

std::optional<http::ResponseHead> LinkedFile::answer(const http::ResponseHead& redirect,
                                                     std::string_view method,
                                                     std::string_view none_match) const {
  const bool is_unchanged = !none_match.empty() && http::names_tag(none_match, etag_);
  if (!is_unchanged && (method != "HEAD" || size_.empty())) return std::nullopt;
  http::ResponseHead head;
  head.status = is_unchanged ? 304 : 200;
  head.reason = is_unchanged ? "Not Modified" : "OK";
  for (const auto& line : redirect.fields) {
    if (!is_of_redirect(line) && !replaces(line)) head.fields.append(line);
  }
  append_to(head.fields);
  head.fields.append(http::field::accept_ranges, "Accept-Ranges", "bytes");
  if (!is_unchanged) head.fields.append(http::field::content_length, "Content-Length", size_);
  return head;
}

std::string_view value_of_field(std::string_view head, std::string_view name) {
  http::take_line(head);
  while (!head.empty()) {
    const auto line = http::take_line(head);
    const auto found = line.substr(0, line.find(':'));
    if (!http::same_word(found, name)) continue;
    const auto value = line.substr(std::min(found.size() + 1, line.size()));
    return http::trim(value.substr(0, value.find('\r')));
  }
  return {};
}

std::string without_conditions(std::string_view head, std::string_view etag) {
  constexpr std::array<std::string_view, 3> kConditions{"If-None-Match", "If-Modified-Since",
                                                        "If-Range"};
  const auto version = value_of_field(head, "If-Range");
  const bool is_of_it = version.empty() || version == etag;
  const auto wanted = value_of_field(head, "If-Match");  // RFC 9110 13.1.1: weak tags never match
  const bool is_met = wanted.find("W/") == wanted.npos && http::names_tag(wanted, etag);
  std::string out(http::take_line(head));
  while (!head.empty()) {
    const auto line = http::take_line(head);
    const auto name = line.substr(0, line.find(':'));
    const bool is_left_out = http::has_word(kConditions, name) ||
                             (!is_of_it && http::same_word(name, "Range")) ||
                             (is_met && http::same_word(name, "If-Match"));
    if (!is_left_out) out += line;
  }
  return out;
}

}  // namespace proxy::mirrors
