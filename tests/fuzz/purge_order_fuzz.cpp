// Any bytes are an order, or are refused with a reason. A canonical URL stays unchanged, and an
// order covers both key spaces alike.
#include <cstdlib>

#include "proxy/pages/purge.hpp"
#include "proxy/policy/request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto order = proxy::pages::parse_purge_order(bytes);
  if (order.has_error()) {
    if (order.error().empty()) std::abort();
  } else if (const auto* url = std::get_if<proxy::http::Target>(&*order)) {
    const auto again = proxy::http::parse_target("GET", url->url());
    if (!again || again->url() != url->url()) std::abort();
  } else {
    const auto& purge = std::get<proxy::cache::PurgePattern>(*order);
    const proxy::cache::StoredName of_gateway{proxy::cache::Space::gateway, "http://a.test/x"};
    if (purge.covers("http://a.test/x") != purge.covers(of_gateway.encode())) std::abort();
  }
  return 0;
}
