// A page has the same links when its anchors are changed again, and stays as it is if it cannot be
// read.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/mirrors/html_anchors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using proxy::mirrors::change_anchors;
  const std::string html(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> links;
  const auto keep = [&links](std::string_view link, std::string_view) {
    links.emplace_back(link);
    return std::optional<std::string>(link);
  };
  auto changed = html;
  if (!change_anchors(changed, keep)) {
    if (changed != html) std::abort();
    return 0;
  }
  const auto first = std::exchange(links, {});
  auto again = changed;
  if (!change_anchors(again, keep)) std::abort();
  if (links != first) std::abort();
  return 0;
}
