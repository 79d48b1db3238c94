// Small texts of origins that would lead the clients of a mirror past the mirror. These clients get
// the texts rewritten. The cache stores the originals, and neighbours get the originals.
//
// A head is a status line and fields, each with CRLF, without obs-fold and the empty line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace proxy::mirrors {

// A longer text goes to the client as it is.
inline constexpr std::size_t kMostRewritten = std::size_t{32} << 20;

// Whether the body of such an answer is one to rewrite.
enum class Rewritable : std::uint8_t {
  no,
  yes,    // a whole JSON text
  coded,  // JSON with a Content-Encoding, which nobody asked for
};
Rewritable is_rewritable(std::string_view head, unsigned status);

// Drops the members from the body (drop_members()). Returns the head for it, whose ETag is strong
// and of the new text alone, and which lacks what was said of the old text; the same head, if there
// is no such member. Nothing, and the body stays as it is: it is no JSON that could be read.
std::optional<std::string> rewrite(std::string_view head, std::string& body,
                                   std::span<const std::string> members);

// The head of an answer to HEAD, whose body nobody has seen: without its ETag and its digests.
std::string head_of_unseen(std::string_view head);

// The head of the 304 in place of this 200, if If-None-Match (`none_match`) names its ETag.
std::optional<std::string> unchanged_head(std::string_view head, std::string_view none_match);

}  // namespace proxy::mirrors
