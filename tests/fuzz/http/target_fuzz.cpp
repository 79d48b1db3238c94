// A canonical URL, parsed again, is unchanged.
#include <cstdlib>

#include "proxy/http/target.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view method : {"GET", "CONNECT", "OPTIONS"}) {
    const auto target = parse_target(method, bytes);
    if (!target || target->host().empty()) continue;
    const auto again = parse_target(method, target->url());
    if (!again || again->url() != target->url() || again->host() != target->host() ||
        again->port() != target->port() || !valid_host(target->authority()))
      std::abort();
  }
  return 0;
}
