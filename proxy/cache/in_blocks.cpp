#include "proxy/cache/in_blocks.hpp"

#include <utility>

#include "proxy/cache/partial.hpp"
#include "proxy/http/forwarding.hpp"

namespace proxy::cache {
namespace {

using http::field;

// The head with another status, without fields that describe the bytes of one message.
http::ResponseHead with_status(unsigned status, const http::ResponseHead& head) {
  http::ResponseHead same{head.minor, status, http::reason_phrase(status), {}};
  for (const http::Field& line : head.fields) {
    // A checksum of the part that arrived does not fit the whole object.
    if (line.id == field::content_range || is_of_whole_content(line)) continue;
    same.fields.append(line.id, line.name, line.value);
  }
  return same;
}

Ref<Entry> made_of(Budget& budget, Received message, Object object, std::uint64_t bytes) {
  message.object = object;
  const auto entry = Entry::make(budget, message);
  entry->body.size = bytes;
  return entry;
}

}  // namespace

Ref<Entry> object_entry(Budget& budget, const Received& received, Object object,
                        std::uint64_t length) {
  if (received.response.status == 200) return made_of(budget, received, object, length);
  const auto head = with_status(200, received.response);
  return made_of(budget, received.with(head), object, length);
}

Ref<const Entry> begun_entry(Budget& budget, const Received& received, Object object,
                             std::uint64_t bytes) {
  auto head = with_status(206, received.response);
  const auto range = http::content_range({{0, bytes - 1}, std::nullopt});
  head.fields.append(field::content_range, "Content-Range", range);
  return made_of(budget, received.with(head), object, bytes);
}

Ref<const Entry> block_entry(Budget& budget, const Entry& object, Body bytes, Giver giver) {
  const auto entry = Entry::make(
      budget,
      Saved{.url = object.url(), .status = 200, .head = {}, .giver = giver, .shared = false});
  entry->body = std::move(bytes);
  return entry;
}

}  // namespace proxy::cache
