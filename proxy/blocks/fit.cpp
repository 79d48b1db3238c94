#include "proxy/blocks/fit.hpp"

#include "proxy/cache/combine.hpp"

namespace proxy {

Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked) {
  const auto status = answer.status;
  if (status == 404 || status == 410 || status == 412 || status == 416) return Fit::changed;
  if (status != 200 && status != 206) return Fit::refused;
  if (!cache::same_representation(object, answer.fields)) return Fit::changed;
  const auto length = object.body.size;
  const bool sized = framing.kind == http::Framing::Kind::sized;
  if (status == 200) return sized && framing.length == length ? Fit::whole : Fit::changed;
  const auto part = cache::range_of(answer);
  if (!part) return Fit::refused;
  if (part->complete && *part->complete != length) return Fit::changed;
  const bool promised = !sized || framing.length == asked.size();
  return part->range == asked && part->complete && promised ? Fit::range : Fit::refused;
}

}  // namespace proxy
