// Earlier members never hide the nearest cache's member, and we can read what we write.
#include <cstdlib>
#include <string>

#include "proxy/http/cache_status.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Fields fields;
  fields.append("Cache-Status", bytes);
  const bool read = nearest_cache_status(fields).has_value();

  std::string printable;
  for (const char c : bytes)
    if (c >= 0x20 && c <= 0x7e) printable += c;
  CacheStatus said;
  said.fwd = Forward::uri_miss;
  said.detail = bytes;
  std::string ours;
  PieceWriter text(ours);
  write_cache_status(text, bytes, said);
  text.flush();
  fields.append("Cache-Status", ours);
  const auto nearest = nearest_cache_status(fields);
  if (nearest.has_value() != read) std::abort();
  if (nearest && (nearest->fwd != "uri-miss" || nearest->detail != printable)) std::abort();
  return 0;
}
