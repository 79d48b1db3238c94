#include "proxy/blocks/fit.hpp"

#include <algorithm>

#include "proxy/cache/combine.hpp"

namespace proxy {

Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked) {
  const auto status = answer.status;
  // A 416 tells of a shorter representation (RFC 9110 15.5.17), a 412 of another validator.
  if (status == 404 || status == 410 || status == 412 || status == 416) return Fit::changed;
  if (status != 200 && status != 206) return Fit::refused;
  const auto part = cache::range_of(answer);
  if (status == 206 && !part) return Fit::refused;  // several parts, or none that can be read
  if (!cache::same_representation(object, answer.fields)) return Fit::changed;
  const auto length = object.body.size;
  const bool sized = framing.kind == http::Framing::Kind::sized;
  if (status == 200) {
    if (answer.fields.has(http::field::content_range)) return Fit::refused;  // a part by its field
    return sized && framing.length == length ? Fit::whole : Fit::changed;
  }
  // A weak validator may stay the same while the bytes change, but then mostly the length does,
  // too.
  if (part->complete && *part->complete != length) return Fit::changed;
  // Some origins code the bytes of the part, and not the whole. Such a body has another length, so
  // a coded part must state its length.
  const bool promised = sized ? framing.length == asked.size() : !cache::is_coded(answer.fields);
  return part->range == asked && part->complete && promised ? Fit::range : Fit::refused;
}

bool is_first_of(const http::ContentRange& part, const http::AskedRange& asked) {
  if (!part.complete || part.range.first != asked.first) return false;
  const auto last = std::min(asked.last.value_or(UINT64_MAX), *part.complete - 1);
  return part.range.last < last && (part.range.last + 1) % cache::kBlockBytes == 0;
}

}  // namespace proxy
