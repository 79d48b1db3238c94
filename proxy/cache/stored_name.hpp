// The name under which a response is stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::cache {

// Who chose the origin of a URL. A client of a gateway chooses the host, but the settings choose
// the origin: what it names must not be what the clients of a proxy get.
// `content`: records under the digest of a body, which nobody can ask for by name.
enum class Space : std::uint8_t { web, gateway, content };

// A URL in its space. Keys, digests and the disk have it as one text: encode().
struct StoredName {
  Space space = Space::web;
  std::string_view url;

  // Takes any text apart. The result refers to it.
  static constexpr StoredName decode(std::string_view text) {
    if (text.starts_with(kContent)) return {Space::content, text.substr(kContent.size())};
    if (!text.starts_with(kGateway)) return {Space::web, text};
    return {Space::gateway, text.substr(kGateway.size())};
  }
  [[nodiscard]] std::string encode() const {
    std::string text;
    if (space == Space::gateway) text = kGateway;
    if (space == Space::content) text = kContent;
    return text += url;
  }

  bool operator==(const StoredName&) const = default;

 private:
  // No URL of a client can have these schemes.
  static constexpr std::string_view kGateway = "reverse:";
  static constexpr std::string_view kContent = "content:";
};

}  // namespace proxy::cache
