// A URL that a path stands for is one that its mirror form leads to again, and that a server reads
// in one way.
#include <cstdlib>
#include <string>

#include "proxy/mirrors/mirrored_url.hpp"

using namespace proxy;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string path(reinterpret_cast<const char*>(data), size);
  const auto url = mirrors::mirrored_url(path);
  if (!url) return 0;
  if (!mirrors::is_mirror_path(path) || url->host().empty() || url->had_userinfo()) std::abort();
  const auto named = std::string("/").append(url->scheme()).append("/").append(url->authority());
  const auto again = mirrors::mirrored_url(named + std::string(url->path()));
  if (!again || again->url() != url->url()) std::abort();
  const auto spelled = mirrors::mirrored_url(named + std::string(url->asked_path()));
  if (!spelled || spelled->url() != url->url() || spelled->asked_path() != url->asked_path())
    std::abort();
  if (url->path().find('\\') != std::string_view::npos) std::abort();
  return 0;
}
