#include "proxy/cache/in_blocks.hpp"

#include <utility>

#include "proxy/cache/partial.hpp"
#include "proxy/http/forwarding.hpp"

namespace proxy::cache {
namespace {

using http::field;

// As the 200 would have begun that this is a part of.
http::ResponseHead head_of_whole(const http::ResponseHead& part) {
  http::ResponseHead whole{part.minor, 200, http::reason_phrase(200), {}};
  for (const http::Field& line : part.fields) {
    if (line.id == field::content_range || is_of_whole_content(line)) continue;
    whole.fields.append(line.id, line.name, line.value);
  }
  return whole;
}

std::shared_ptr<Entry> made_of(Budget& budget, const Received& whole, std::uint64_t length) {
  const auto entry = std::make_shared<Entry>(budget, whole);
  entry->body.size = length;
  return entry;
}

}  // namespace

std::shared_ptr<Entry> object_entry(Budget& budget, const Received& received, Object object,
                                    std::uint64_t length) {
  if (received.response.status == 200) {
    Received whole = received;
    whole.object = object;
    return made_of(budget, whole, length);
  }
  const auto head = head_of_whole(received.response);
  Received whole = received.with(head);
  whole.object = object;
  return made_of(budget, whole, length);
}

std::shared_ptr<const Entry> block_entry(Budget& budget, const Entry& object, Body bytes) {
  const auto entry = std::make_shared<Entry>(
      budget, Saved{.url = object.url, .status = 200, .head = {}, .shared = false});
  entry->body = std::move(bytes);
  return entry;
}

}  // namespace proxy::cache
