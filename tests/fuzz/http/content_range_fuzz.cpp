// A Content-Range that is accepted is in order, does not overflow, and is written again with the
// same meaning.
#include <cstdlib>

#include "proxy/http/range.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto part = parse_content_range({reinterpret_cast<const char*>(data), size});
  if (!part) return 0;
  if (part->range.first > part->range.last || part->range.last == UINT64_MAX) std::abort();
  if (part->complete && *part->complete <= part->range.last) std::abort();
  if (parse_content_range(content_range(*part)) != part) std::abort();
  return 0;
}
