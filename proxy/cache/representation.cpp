#include "proxy/cache/representation.hpp"

#include <algorithm>
#include <array>

#include "proxy/cache/partial.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::cache {
namespace {

using http::field;

// The codings in the order in which they were applied, as a list; empty: none.
std::string codings_of(const http::Fields& fields) {
  std::string codings;
  http::Members members(fields, field::content_encoding);
  while (const auto member = members.next()) {
    auto coding = http::lower(*member);
    // Some servers write it, though RFC 9110 8.4.1 says that they should not.
    if (coding == "identity") continue;
    if (coding.starts_with("x-")) coding.erase(0, 2);  // an older name (RFC 9110 8.4.1)
    if (!codings.empty()) codings += ", ";
    codings += coding;
  }
  return codings;
}

// Whether all lines of the field have the stored value.
bool agrees(const http::Fields& stored, const http::Fields& answer, field id) {
  return std::ranges::all_of(answer, [&](const http::Field& line) {
    return line.id != id || http::same_word(line.value, stored.value(id));
  });
}

// The complete length that the response states.
std::optional<std::uint64_t> told_length(const http::ResponseHead& answer) {
  if (answer.status == 206) {
    const auto part = range_of(answer);
    return part ? part->complete : std::nullopt;
  }
  // RFC 9112 6.3: Transfer-Encoding overrides Content-Length.
  if (answer.fields.has(field::transfer_encoding)) return std::nullopt;
  return http::parse_decimal(answer.fields.value(field::content_length));
}

}  // namespace

bool same_version(const Entry& stored, const http::Fields& answer) {
  if (strong_validator(stored).empty() || !http::agrees_on_validators(answer)) return false;
  const auto etag = answer.value(field::etag);
  // A tag that is missing in the answer is no proof, even if the dates are equal.
  if (!stored.quotes().etag.empty()) return http::strongly_equal(etag, stored.quotes().etag);
  return etag.empty() && answer.value(field::last_modified) == stored.quotes().last_modified;
}

bool same_representation(const Entry& stored, const http::Fields& answer) {
  constexpr std::array kDescribing{field::content_type, field::content_language,
                                   field::last_modified};
  if (!same_version(stored, answer)) return false;
  const ParsedHead parsed(stored);
  const auto& fields = parsed.head.fields;
  return codings_of(fields) == codings_of(answer) &&
         std::ranges::all_of(kDescribing, [&](field id) { return agrees(fields, answer, id); });
}

bool contradicts_length(const http::ResponseHead& answer, std::optional<std::uint64_t> complete,
                        std::uint64_t come) {
  const auto told = told_length(answer);
  return told && (complete ? *told != *complete : *told < come);
}

bool same_coding(const Entry& stored, const http::Fields& answer) {
  return codings_of(ParsedHead(stored).head.fields) == codings_of(answer);
}

bool is_coded(const http::Fields& answer) {
  return !codings_of(answer).empty();
}

std::string accepts_coding_of(const Entry& stored) {
  auto codings = codings_of(ParsedHead(stored).head.fields);
  return codings.empty() ? "identity" : codings;
}

}  // namespace proxy::cache
