// A reference resolves to a canonical URL without dot segments, or to an error.
#include <cstdlib>

#include "proxy/http/target.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const Target base = parse_target("GET", "http://example.com:81/a/b?c").value();
  const auto resolved = resolve(base, {reinterpret_cast<const char*>(data), size});
  if (!resolved) return 0;
  const auto again = resolve(base, resolved->url());
  if (!again || again->url() != resolved->url()) std::abort();
  const std::string_view path = resolved->path();
  const std::string segments = std::string(path.substr(0, path.find('?'))) + '/';
  if (segments.find("/../") != segments.npos || segments.find("/./") != segments.npos) std::abort();
  return 0;
}
