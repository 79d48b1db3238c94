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

#include "proxy/mirrors/links.hpp"

namespace proxy::mirrors {

// A longer text goes to the client as it is.
inline constexpr std::size_t kMostRewritten = std::size_t{32} << 20;

// What is written anew.
struct TextChange {
  std::span<const std::string> dropped = {};  // members that JSON lacks (drop_members())
  // Members with links (change_links()). If there are any, the anchors of HTML change, too.
  std::span<const std::string> links = {};
  LinkTo link = {};
};

// Whether the body of such an answer is one to rewrite.
enum class Rewritable : std::uint8_t {
  no,
  json,   // a whole JSON text
  html,   // a whole page with links that change
  coded,  // either with a Content-Encoding, which nobody asked for
};
Rewritable is_rewritable(std::string_view head, unsigned status, const TextChange& change);
// The memory for a text of this size while it is rewritten.
std::size_t memory_to_rewrite(std::size_t size, const TextChange& change);

// Changes the body. Returns the head for it, whose ETag is strong and of the new text alone, and
// which lacks what was said of the old text; the same head, if nothing was dropped and no links
// were to change. Nothing, and the body stays as it is: it could not be read as what it is said to
// be.
std::optional<std::string> rewrite(std::string_view head, std::string& body,
                                   const TextChange& change);

// The head of an answer to HEAD, whose body nobody has seen: without its ETag and its digests.
std::string head_of_unseen(std::string_view head);
// The fields of a text that went to the client as it is: Cache-Status says so. `fields`: lines,
// each with CRLF; so is the result.
std::string fields_of_original(std::string_view fields);

// The head of the 304 in place of this 200, if If-None-Match (`none_match`) names its ETag.
std::optional<std::string> unchanged_head(std::string_view head, std::string_view none_match);

}  // namespace proxy::mirrors
