// Parts of one representation (RFC 9111 3.3, 3.4; RFC 9110 15.3.7.3): whether two messages are of
// one, which bytes complete a part, which parts may be joined, and which result to store. Joining
// is never a duty: if the fields do not prove that the bytes belong together, nothing is joined.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/judge.hpp"

namespace proxy::cache {

// Whether the response names the version of the stored entry by a strong validator. One version may
// have several representations, since some origins give all codings of a resource the same tag.
bool same_version(const Entry& stored, const http::Fields& answer);

// Whether the response has the same representation as the stored entry: it is of the same version
// and has the same codings, and its Content-Type, Content-Language and Last-Modified do not differ.
// It may lack these three, because an answer to If-Range need not repeat them (RFC 9110 15.3.7). A
// caller that joins bytes also compares the complete lengths: see contradicts_length().
bool same_representation(const Entry& stored, const http::Fields& answer);

// Whether the complete length that the response states is not `complete`. If `complete` is unknown,
// whether the stated length is less than `come`, the number of bytes that have arrived.
bool contradicts_length(const http::ResponseHead& answer, std::optional<std::uint64_t> complete,
                        std::uint64_t come);

// Whether the response has the content codings of the stored entry (RFC 9110 8.4). A response
// without Content-Encoding is not coded.
bool same_coding(const Entry& stored, const http::Fields& answer);
// Whether content codings were applied to the response.
bool is_coded(const http::Fields& answer);
// The value of Accept-Encoding that asks for the codings of the stored entry.
std::string accepts_coding_of(const Entry& stored);

// The range that a request wants beyond a stored part. It begins right after the part.
struct MissingRange {
  std::uint64_t from = 0;             // the first byte that the client wants, which is stored
  std::uint64_t first = 0;            // the first byte that is not stored
  std::optional<std::uint64_t> last;  // none: to the end

  bool operator==(const MissingRange&) const = default;
};

// Returns the missing range if the wanted bytes begin within the stored part and one range right
// after the part supplies the rest. Else returns nothing, and the request is forwarded with its own
// Range. A plain GET wants the whole representation.
std::optional<MissingRange> rest_wanted(const RequestFacts& request, const Entry& stored);
// The value of Range that requests the missing range.
inline std::string range_of(const MissingRange& rest) {
  return http::range_field({rest.first, rest.last});
}

// The bytes that the client gets when the response is joined to the stored part. Returns nothing if
// they must not be joined: the response is not a 206 of the same representation, has other bytes
// than requested, or does not announce all of them.
std::optional<http::ContentRange> joined(const MissingRange& rest, const Entry& stored,
                                         const http::ResponseHead& answer);

// The body without its first `skipped` bytes; it must have that many. Copies at most one block.
Body without_first(Budget& budget, const Body& body, std::uint64_t skipped);

// Returns the entry to store after the part `newer` has been received completely. If `newer` and
// the stored entry `stored` (null: nothing is stored) are of one representation and touch, the
// result is both joined; else it is `newer`. A result that is complete is no longer a part. Returns
// null if the stored entry is better kept unchanged, or if `newer` has more bytes than it states.
// Returns null, too, if `newer` is coded and has fewer bytes: then only the bytes of the part were
// coded, not the representation.
//
// `response` is the message that carried `newer`. Joins at most `most` bytes. The result is charged
// to the budget of `newer`.
Ref<const Entry> combine(const Entry* stored, const Ref<const Entry>& newer,
                         const RequestFacts& request, const Received& response, std::uint64_t most);

// The entry of an object whose body begins to arrive in a 200 or a 206. The head of a 206 is stored
// as the head that a 200 would have. `length` is the complete length, from 1 to kLargestObject.
Ref<Entry> object_entry(Budget& budget, const Received& received, Object object,
                        std::uint64_t length);

// The entry of the blocks kept so far of an object whose length is not known yet: the first `bytes`
// of a 200. `bytes` is a multiple of the block size.
Ref<const Entry> begun_entry(Budget& budget, const Received& received, Object object,
                             std::uint64_t bytes);

// The entry of one block of `object`, stored under the block's own key. The entry has the bytes,
// the object to which they belong, and the giver, and nothing else.
Ref<const Entry> block_entry(Budget& budget, const Entry& object, Body bytes, Giver giver = {});

}  // namespace proxy::cache
