// Parts lie within the representation, are disjoint and few; a single range survives writing and
// reading. A rewritten Range selects the same bytes.
#include <algorithm>
#include <cstdlib>

#include "proxy/http/range.hpp"

using namespace proxy::http;

static ByteRanges in_order(ByteRanges parts) {
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return parts;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view value(reinterpret_cast<const char*>(data), size);
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{10}, UINT64_MAX}) {
    const auto selected = select_ranges(value, length);
    if (selected.parts.empty() != (selected.kind != Selection::Kind::parts)) std::abort();
    if (selected.parts.size() > kMostRanges) std::abort();
    for (const auto& part : selected.parts) {
      if (part.first > part.last || part.last >= length) std::abort();
      for (const auto& other : selected.parts) {
        if (&part != &other && part.first <= other.last && other.first <= part.last) std::abort();
      }
    }
  }
  const auto heeded = joined_range(value);
  if (heeded && joined_range(*heeded) != heeded) std::abort();
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{10}, UINT64_MAX}) {
    const auto asked = select_ranges(value, length);
    const auto sent = select_ranges(heeded.value_or(""), length);
    if (asked.kind != sent.kind || in_order(asked.parts) != in_order(sent.parts)) std::abort();
  }
  const auto only = only_range(value);
  if (only && only->last && *only->last < only->first) std::abort();
  if (only && only_range(range_field(*only)) != only) std::abort();
  return 0;
}
