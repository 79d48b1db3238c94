// The links in texts of mirrored servers, as clients of mirrors get them. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/target.hpp"
#include "proxy/mirrors/answer_head.hpp"

namespace proxy::mirrors {

// Gives the link that stands in place of another one. Nothing: the link stays. `sha256`: what the
// text says of the bytes there, in hexadecimal; empty: nothing.
using LinkTo =
    std::function<std::optional<std::string>(std::string_view link, std::string_view sha256)>;

// The links of the page, which the client finds at `place`: those to the page's own server, and to
// URLs of which `is_mirrored` is true, become URLs of ours. If the digest of the bytes is known, by
// `sha256` or a fragment "#sha256=HEX", the URL names it (digest_front()), so that they are
// checked. Fragments stay. Other links that have no scheme get that of the page. Nothing for the
// rest.
LinkTo links_at(Place place, http::Target page,
                std::function<bool(const http::Target&)> is_mirrored);

// What stands in place of some bytes of a text.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text = {};
};

// The edits of one text, which do not overlap. Their number and size are bounded, since the text is
// anybody's.
class Edits {
 public:
  explicit Edits(std::size_t size_of_text) : most_(size_of_text + kAlways) {}

  // The memory that the edits of a text, and the new text, take beside the text itself, at most.
  static constexpr std::size_t most_memory(std::size_t size_of_text) {
    return 3 * size_of_text + 2 * kAlways;
  }

  // False: there are too many.
  [[nodiscard]] bool add(Edit edit);
  // Applies them to the text. Call it once.
  void apply_to(std::string& text);

 private:
  static constexpr std::size_t kAlways = std::size_t{64} << 10;

  const std::size_t most_;
  std::size_t taken_ = 0;
  std::vector<Edit> edits_;
};

}  // namespace proxy::mirrors
