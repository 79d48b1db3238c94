// The name under which a response is stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::cache {

// Who chose the origin of a URL. A client of a gateway chooses the host, but the settings choose
// the origin: what it names must not be what the clients of a proxy get.
enum class Space : std::uint8_t { web, gateway };

// A URL in its space. Keys, digests and the disk have it as one text: encode().
struct StoredName {
  Space space = Space::web;
  std::string_view url;

  // Takes any text apart. The result refers to it.
  static constexpr StoredName decode(std::string_view text) {
    if (!text.starts_with(kGateway)) return {Space::web, text};
    return {Space::gateway, text.substr(kGateway.size())};
  }
  [[nodiscard]] std::string encode() const {
    std::string text(space == Space::gateway ? kGateway : std::string_view());
    return text += url;
  }

  bool operator==(const StoredName&) const = default;

 private:
  // No URL of a client can have this scheme.
  static constexpr std::string_view kGateway = "reverse:";
};

}  // namespace proxy::cache
