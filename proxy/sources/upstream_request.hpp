// The request heads that a fill sends: to a sibling, to the origin, and for the rest of a body.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/cache/entry.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// In absolute-form with only-if-cached, and without what is between the client and the origin alone
// (credentials, cookies): a sibling is asked for what it may hand to anybody.
// Of a part: if it is still of the version with that strong validator; empty: of any.
struct PartAsked {
  http::AskedRange bytes;
  std::string_view validator = {};
};
std::string sibling_request(const Request& request, std::string_view our_name,
                            const std::optional<PartAsked>& part = {},
                            std::string_view method = "GET");

// Whether that answer was chosen by a field that the client sent and the sibling was not shown:
// then it is for somebody else (RFC 9111 4.1).
bool selected_by_withheld(const http::ResponseHead& answer, const Request& request);

// In origin-form, without the client's own conditions, and its Range unless a part is asked for. To
// revalidate what is held, on the condition that it has changed; `tags` are the ones to name then.
// To complete it, for what it lacks if it has not changed (where a strong validator can tell).
// `range_override`: asked for in place of the client's range, and without its If-Range.
std::string origin_request(const Request& request, std::string_view our_name,
                           const cache::Verdict& how, const cache::Entry* held,
                           std::string_view tags,
                           const std::optional<http::AskedRange>& range_override = std::nullopt);

// The same for the bytes from `offset` on, if they are of the same representation as `entry`;
// nothing where the entry has no strong validator to tell that by (RFC 9110 13.1.5).
std::optional<std::string> rest_request(const Request& request, std::string_view our_name,
                                        const cache::Entry& entry, std::uint64_t offset);

// The same for just those bytes of an object, which has a strong validator.
std::string range_request(const Request& request, std::string_view our_name,
                          const cache::Entry& object, const http::ByteRange& bytes);

// An interim response's head as it is passed on, empty line included.
std::string interim_text(const http::ResponseHead& head, std::string_view our_name);

// How many bytes of the answer's body to skip so that it goes on at `offset`: 0 for a fitting 206,
// `offset` for a 200 of the same representation; nothing where it may not be joined.
std::optional<std::uint64_t> joins_after(const http::ResponseHead& answer,
                                         const cache::Entry& entry, std::uint64_t offset,
                                         std::optional<std::uint64_t> length);

}  // namespace proxy
