// The form of an entry in a record on disk (disk/format.hpp), beyond the record's own
// fields.
//
// URL, body, times and giver are fields of the record; its head holds the rest. Numbers are
// little-endian.
//    0  1  layout, 1                         4  4  bytes of status line and fields
//    1  1  bits: 1 neighbours may see it,   8  4  stale-while-revalidate, s
//          2 no-cache, 4 never stale,       12  4  stale-if-error, s
//          8 a large object, 16 a rule,
//          32 not without that rule
//    2  1  source: 0 origin, 1 sibling,   16  4  freshness lifetime, s
//          2 parent                         20  4  number of selecting fields, at most 64
//    3  1  the lifetime's basis: 0 none,    24  8  age when it arrived, ms
//          1 heuristic, 2 Expires,          32  8  end of its claim to neighbours,
//          3 max-age, 4 s-maxage                   ms since 1970; 0: none
//                                           40  8  Selector::number that leads here; 0: none
// After these come, in this order: for a large object, 8 bytes (its complete length or, if the
// status is 206, how much was kept of an object whose length is not known yet); for a response that
// lasts by a rule, 8 bytes (the rule: digest::RuleHash); the status line and the fields, a CRLF
// after each; the request fields that Vary names, sorted: 4 bytes of name length, 4 of value length
// (2^32 - 1: the request had none), name, value.
//
// A response with Vary is found in two steps. The key of the URL leads to a record of kind
// selector, whose head is a Selector. The Selector and the request give the key of the variant.
//    0  1  layout, 1                         4  4  0
//    1  3  0                                 8  8  number
//                                           16 16  key of the variant whose claim the record has
// Then the names of the fields, sorted, with ", " between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// The entry must not be a part, except of an object. `selector` is the number of the Selector that
// leads to it, 0 without Vary.
std::string encode_head(const Entry& entry, std::uint64_t selector);

struct SavedHead {
  Saved entry;
  std::uint64_t selector = 0;
  std::uint64_t length = 0;  // of a large object; of a part, the bytes kept
};
// Returns nothing unless the bytes are the output of encode_head() for some entry. Safe on any
// bytes. The texts of the result are parts of `url` and `head`.
std::optional<SavedHead> decode_head(std::string_view url, std::string_view head,
                                     const disk::RecordHeader& record);
// Writes the times into the record.
void write_times(disk::RecordHeader& record, const Times& times);
// Writes the entry's claim into the record. A record has one claim: if the entry lasts by a rule,
// the one for neighbours that have the rule, since it outlasts the one for everybody.
void write_claim(disk::RecordHeader& record, const Entry& entry);
// Writes a large object's version and number of blocks into the record.
void note_object(disk::RecordHeader& record, const Entry& entry);

// The fields that select among the variants of a URL, and a number. The number is new after each
// purge of the URL and each change of its Vary, so that variants stored before can no longer be
// found.
struct Selector {
  std::uint64_t number = 0;  // never 0
  std::string names;         // such as "accept-encoding, cookie"
  // The key of the variant whose claim stands for the URL: the one that is claimable for the
  // longest time, as far as known.
  disk::Key claimed{};

  bool operator==(const Selector&) const = default;
};
std::string names_of(const http::Variant& variant);
std::string encode(const Selector& selector);
std::optional<Selector> decode_selector(std::string_view head);

// The key of the variant that answers requests like this one.
disk::Key variant_key(const disk::Key& url, std::uint64_t number, const http::Variant& variant);
disk::Key variant_key(const disk::Key& url, const Selector& selector, http::NormalForms& request);

}  // namespace proxy::cache
