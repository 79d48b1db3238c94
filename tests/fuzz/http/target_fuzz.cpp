// A canonical URL, parsed again, is unchanged.
#include <cstdlib>
#include <string>

#include "proxy/http/target.hpp"

using namespace proxy::http;

namespace {

// A URL that is canonical already is taken as it is. Spelled otherwise, it is taken apart.
void check_reads_alike(std::string_view method, std::string_view bytes,
                       const HeadResult<Target>& target) {
  if (!bytes.starts_with("http://")) return;
  const auto other = parse_target(method, "HTTP" + std::string(bytes.substr(4)));
  if (target.has_value() != other.has_value()) std::abort();
  if (!target) return;
  if (target->url() != other->url() || target->host() != other->host() ||
      target->port() != other->port() || target->path() != other->path() ||
      target->had_userinfo() != other->had_userinfo())
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view method : {"GET", "CONNECT", "OPTIONS"}) {
    const auto target = parse_target(method, bytes);
    check_reads_alike(method, bytes, target);
    if (!target || target->host().empty()) continue;
    const auto again = parse_target(method, target->url());
    if (!again || again->url() != target->url() || again->host() != target->host() ||
        again->port() != target->port() || !valid_host(target->authority()))
      std::abort();
  }
  return 0;
}
