// Small texts that clients of mirrors get in another form than the origin gave them, since they
// would lead the clients past the mirror. What is stored, and what neighbours get, is the original.
//
// A head is a status line and fields, each with CRLF, without obs-fold and the empty line.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace proxy::mirrors {

// A longer text goes to the client as it is.
inline constexpr std::size_t kMostRewritten = std::size_t{32} << 20;

// Whether the body of such an answer is one to rewrite: JSON without a Content-Encoding.
bool is_rewritable(std::string_view head, unsigned status);

struct Rewritten {
  std::string head;
  std::string body;
};

// The answer without the members (without_members()). Its ETag is strong and of the new text alone,
// and what the head has said of the old text is left out. If there is no such member, both stay as
// they are. Nothing: the body is no JSON that could be read.
std::optional<Rewritten> rewritten(std::string_view head, std::string_view body,
                                   std::span<const std::string> members);

// The head of an answer to HEAD, whose body nobody has seen: without its ETag and its digests.
std::string head_of_unseen(std::string_view head);

// The head of the 304 in place of this 200, if If-None-Match (`none_match`) names its ETag.
std::optional<std::string> unchanged_head(std::string_view head, std::string_view none_match);

}  // namespace proxy::mirrors
