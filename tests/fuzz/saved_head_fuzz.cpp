// If the head of a record is accepted, encoding it again gives the same bytes, and its HTTP head
// parses, on which other code relies. Input: a head, read as each kind of record.
#include <cstdlib>

#include "proxy/cache/saved_head.hpp"

namespace cache = proxy::cache;

namespace {

void read_as(std::string_view bytes, const cache::disk::RecordHeader& record) {
  cache::Budget budget(1 << 20);
  auto saved = cache::decode_head("http://a/", bytes, record);
  if (!saved) return;
  const bool answers = saved->entry.status == 200 && saved->entry.shared && !saved->entry.no_cache;
  const auto made = cache::Entry::make(budget, std::move(saved->entry));
  cache::Entry& entry = *made;
  if (entry.object().has_value() != (record.kind == cache::disk::RecordKind::object)) std::abort();
  if (entry.object() && cache::blocks_in(saved->length) != record.block) std::abort();
  if (entry.object()) entry.body.size = saved->length;
  auto text = std::string(entry.head()) + "\r\n";
  if (!proxy::http::parse_response_head(text, {text.size(), text.size()})) std::abort();
  if (answers && cache::encode_head(entry, saved->selector) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto selector = cache::decode_selector(bytes);
  if (selector && cache::encode(*selector) != bytes) std::abort();
  cache::disk::RecordHeader record{.response_time = 1704067200000};
  read_as(bytes, record);
  record.kind = cache::disk::RecordKind::object;
  for (const std::uint32_t blocks : {0U, 5U, UINT32_MAX}) {
    record.block = blocks;
    read_as(bytes, record);
  }
  return 0;
}
