// Any bytes are a parameter, or are refused. A decoded value is no longer than its encoded form.
#include <cstdlib>

#include "proxy/pages/query.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"url", "prefix", ""}) {
    const auto read = proxy::pages::only_parameter(bytes, name);
    if (!read && read.error().text.empty()) std::abort();
    if (read && *read && (*read)->size() >= size) std::abort();
  }
  return 0;
}
