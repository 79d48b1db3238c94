// Whether two messages are of one representation, so that their bytes may be joined (RFC 9110
// 15.3.7.3). Joining is never a duty: if the fields do not prove that, nothing is joined. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// Whether the response names the version of the stored entry by a strong validator. One version may
// have several representations, since some origins give all codings of a resource the same tag.
bool same_version(const Entry& stored, const http::Fields& answer);

// Whether the response has the same representation as the stored entry: it is of the same version
// and has the same codings, and its Content-Type, Content-Language and Last-Modified do not differ.
// It may lack these three, because an answer to If-Range need not repeat them (RFC 9110 15.3.7). A
// caller that joins bytes also compares the complete lengths: see contradicts_length().
bool same_representation(const Entry& stored, const http::Fields& answer);

// Whether the response states another complete length than `complete`. If `complete` is unknown:
// whether it states fewer than the `come` bytes that have arrived.
bool contradicts_length(const http::ResponseHead& answer, std::optional<std::uint64_t> complete,
                        std::uint64_t come);

// Whether the response has the content codings of the stored entry (RFC 9110 8.4). A response
// without Content-Encoding is not coded.
bool same_coding(const Entry& stored, const http::Fields& answer);
// Whether content codings were applied to the response.
bool is_coded(const http::Fields& answer);
// The value of Accept-Encoding that asks for the codings of the stored entry.
std::string accepts_coding_of(const Entry& stored);

}  // namespace proxy::cache
