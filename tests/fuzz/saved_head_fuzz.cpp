// What is believed of a record's head is written down as the same bytes again, and has what others
// rely on: a head that parses. Input: a head, read as both kinds.
#include <cstdlib>

#include "proxy/cache/saved_head.hpp"

namespace cache = proxy::cache;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  cache::Budget budget(1 << 20);
  const auto selector = cache::decode_selector(bytes);
  if (selector && cache::encode(*selector) != bytes) std::abort();
  const proxy::cache::disk::RecordHeader record{.response_time = 1704067200000};
  auto saved = cache::decode_head("http://a/", bytes, record);
  if (!saved) return 0;
  const bool answers = saved->entry.status == 200 && saved->entry.shared && !saved->entry.no_cache;
  const cache::Entry entry(budget, std::move(saved->entry));
  auto text = entry.head + "\r\n";
  if (!proxy::http::parse_response_head(text, {text.size(), text.size()})) std::abort();
  if (answers && cache::encode_head(entry, saved->selector) != bytes) std::abort();
  return 0;
}
