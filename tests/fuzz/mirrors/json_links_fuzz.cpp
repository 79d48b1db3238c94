// A text with other links is JSON, and has the same members.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "proxy/mirrors/json_members.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using proxy::mirrors::change_links;
  static const std::array<std::string, 2> kNames{"url", "dist.zip"};
  const std::string json(reinterpret_cast<const char*>(data), size);
  const auto to = [](std::string_view link, std::string_view sha256) {
    return std::optional<std::string>("/new/" + std::string(sha256) + std::string(link));
  };
  auto changed = json;
  if (!change_links(changed, kNames, to)) {
    if (changed != json) std::abort();
    return 0;
  }
  auto left = changed;
  if (!proxy::mirrors::drop_members(left, kNames)) std::abort();
  const auto stay = [](std::string_view, std::string_view) -> std::optional<std::string> {
    return std::nullopt;
  };
  auto same = json;
  if (!change_links(same, kNames, stay) || same != json) std::abort();
  return 0;
}
