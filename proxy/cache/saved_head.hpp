// How an entry lies in a record of the disk (disk/format.hpp), beside what the record itself says.
//
// URL, body and times are the record's own: its head is the rest. Numbers are little-endian.
//    0  1  layout, 1                         4  4  bytes of status line and fields
//    1  1  bits: 1 neighbours may know,      8  4  stale-while-revalidate, s
//          2 no-cache, 4 never stale,       12  4  stale-if-error, s
//          8 a large object
//    2  1  from: 0 origin, 1 sibling,       16  4  freshness lifetime, s
//          2 parent                         20  4  number of selecting fields, at most 64
//    3  1  the lifetime's basis: 0 none,    24  8  age when it arrived, ms
//          1 heuristic, 2 Expires,          32  8  a neighbour may be told of it until,
//          3 max-age, 4 s-maxage                   ms since 1970; 0: never
//                                           40  8  Selector::number it is found by; 0: none
// then, of a large object, 8 bytes of its complete length, or where the status is 206 of how much
// of it was kept of a length that is not known yet; then status line and fields, a CRLF after each;
// then the request fields that Vary names, sorted: 4 bytes of name's length, 4 of its value's (2^32
// - 1: the request had none), name, value.
//
// A response with Vary is found in two steps: the URL's key leads to a record of kind selector,
// whose head is a Selector; with it and a request goes the key of the variant.
//    0  1  layout, 1                         4  4  0
//    1  3  0                                 8  8  number
//                                           16 16  key of the variant whose claim the record has
// then the names of the fields, sorted, ", " between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// The entry is no part, but of an object. `selector`: the number of what leads to it, 0 where it
// has no Vary.
std::string encode_head(const Entry& entry, std::uint64_t selector);

struct SavedHead {
  Saved entry;
  std::uint64_t selector = 0;
  std::uint64_t length = 0;  // of a large object; of a part, of that
};
// Nothing where the bytes are not what encode_head() makes of some entry. Safe on any bytes.
std::optional<SavedHead> decode_head(std::string_view url, std::string_view head,
                                     const disk::RecordHeader& record);
// The record's part of the times.
void note_times(disk::RecordHeader& record, const Times& times);
// Until when it is claimable, as records have it.
std::uint32_t recorded_claim(const Entry& entry);
// The record's part of a large object: version and number of blocks.
void note_object(disk::RecordHeader& record, const Entry& entry);

// What selects among the variants of a URL. The number tells those that were stored since the URL
// was last purged, or its Vary changed, from earlier ones, which nothing leads to any more.
struct Selector {
  std::uint64_t number = 0;  // not 0
  std::string names;         // as in the example: "accept-encoding, cookie"
  // The key of the variant whose claim is the URL's: of all that were put the one that holds
  // longest, as far as that is known.
  disk::Key claimed{};

  bool operator==(const Selector&) const = default;
};
std::string names_of(const http::Variant& variant);
std::string encode(const Selector& selector);
std::optional<Selector> decode_selector(std::string_view head);

// What the variant is found under that answers requests like this one.
disk::Key variant_key(const disk::Key& url, std::uint64_t number, const http::Variant& variant);
disk::Key variant_key(const disk::Key& url, const Selector& selector, const http::Fields& request);

}  // namespace proxy::cache
