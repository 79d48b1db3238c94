// Which bytes of an object a request wants, whether they are stored, and which range to ask an
// origin for if they are not.
#pragma once

#include <cstdint>
#include <optional>

#include "digest/key.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/http/range.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::blocks {

struct FetchAccess;

enum class Presence : std::uint8_t {
  stored,     // every byte of the answer is stored, or the answer has no body
  under_way,  // every missing block is being fetched for other requests
  missing,    // at least one block is neither stored nor being fetched
};

// Says where the blocks are that answer the request. Looks at memory, the index of the disk and the
// runs under way, and reads nothing from the disk. `key`: of the object's URL. For a request that
// the beginning of its range satisfies (peers::kPartField), only the first bytes count.
Presence presence(const FetchAccess& access, const policy::Request& request, const digest::Key& key,
                  const cache::Entry& object);

// The parts of the object that the request's Range selects; all of it without one.
http::Selection parts_wanted(const policy::Request& request, const cache::Entry& object);

// One request for an object; all three outlive it.
struct AskedObject {
  const policy::Request& request;
  const digest::Key& key;
  const cache::Entry& object;
};

// The ranges whose bytes the answer has, unless that is a 304: none in an answer to HEAD or in a
// 416. If the first bytes of one range will do (peers::kPartField), the range ends before its first
// missing block, unless its first block is missing.
http::ByteRanges ranges_of(const FetchAccess& access, const AskedObject& asked,
                           const http::Selection& wanted);

// A range of fewer bytes is fetched as it is: a few bytes are not worth a block of 1 MiB.
inline constexpr std::uint64_t kWorthABlock = 64 * 1024;

// The facts that are known of an object before it is asked for.
struct KnownObject {
  std::uint64_t stored = 0;  // bytes at the beginning, in whole blocks, that are stored already
  std::optional<std::uint64_t> length;  // as the stored response tells it; none: unknown
};

// Returns the request's first range, extended to whole blocks: at most 2 MiB more than was asked
// for, and nothing behind the known end, because not every origin shortens such a range. If the
// range begins within the stored bytes, the result begins after them. The caller fetches further
// ranges once the blocks of the first one have arrived.
//
// If the length is unknown, the end of a single range stays as the client asked. The beginning is
// moved to that of a block only if the range goes to the end of the object. The result has at least
// one whole block.
//
// Returns nothing if the bytes of ascending ranges, or one of other ranges, are short
// (kWorthABlock), unless a class of the settings makes them worth blocks, if any is a suffix, if
// the first one begins beyond the known end or the largest object, or if the request signs its
// range. The caller must send the range without If-Range, because the answer to If-Range may lack
// most of its head (RFC 9110 15.3.7), and must check the answer's validator itself.
std::optional<http::AskedRange> aligned_to_blocks(const cache::RequestFacts& request,
                                                  const KnownObject& known = {});

}  // namespace proxy::blocks
