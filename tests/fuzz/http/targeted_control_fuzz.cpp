// A targeted field is read completely or ignored; either way the ages stay within their bounds.
#include <cstdlib>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/structured_fields.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string targets[] = {"T"};
  Fields fields;
  fields.append("Cache-Control", "max-age=60, no-transform");
  fields.append("T", bytes);
  const CacheControl control = response_cache_control(fields, targets);
  StructuredReader dictionary(bytes, Structure::dictionary);
  while (dictionary.next()) continue;
  if (dictionary.failed() && control.targeted) std::abort();
  if (!control.targeted && (control.max_age != seconds(60) || !control.no_transform)) std::abort();
  for (const auto& age : {control.max_age, control.s_maxage, control.stale_if_error})
    if (age && (*age < seconds(0) || *age > kForever)) std::abort();
  fields.append("T", "!");
  if (response_cache_control(fields, targets).targeted) std::abort();
  return 0;
}
