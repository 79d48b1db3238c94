// If a list is accepted, each of its lines is found.
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "proxy/policy/known_urls.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::istringstream list(text);
  try {
    const proxy::policy::KnownUrls known(list);
    std::istringstream again(text);
    for (std::string line; std::getline(again, line);) {
      const auto url = proxy::http::parse_target("GET", line);
      if (url && !known.may_have(*url)) std::abort();
    }
  } catch (const std::runtime_error&) {
    return 0;
  }
  return 0;
}
