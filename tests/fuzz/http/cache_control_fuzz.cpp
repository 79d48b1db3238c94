// Directives stay in their bounds, and a second line never makes them less strict.
#include <cstdlib>

#include "proxy/http/cache_control.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Fields fields;
  fields.append("Cache-Control", "max-age=60, no-transform");
  fields.append("Cache-Control", bytes);
  const CacheControl both = cache_control(fields);
  if (!both.no_transform || !both.max_age || *both.max_age > seconds(60)) std::abort();
  for (const auto& age : {both.max_age, both.s_maxage, both.min_fresh, both.max_stale})
    if (age && (*age < seconds(0) || *age > kForever)) std::abort();
  return 0;
}
