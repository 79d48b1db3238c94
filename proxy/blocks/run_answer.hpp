// What an answer to a run's request means for the stored object: whether it has the blocks, and
// what its head says.
#pragma once

#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/sources/attempt.hpp"

namespace proxy::tiers {
class Cache;
}

namespace proxy::blocks {

// What an answer means for a request that asks for one range of an object, provided that the object
// is unchanged.
enum class Fit : std::uint8_t {
  range,    // exactly that range
  whole,    // the whole object: the source ignores ranges, for whatever reason
  changed,  // the source has another version: the stored one is outdated
  refused,  // the answer says nothing about the stored version
};
// Pure.
Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked,
           const policy::Request& request);

// Whether the answer has the first whole blocks of the range, and lacks the rest. Pure.
bool is_first_of(const http::ContentRange& part, const http::AskedRange& asked);

// The bytes of these blocks in an object of this length.
http::ByteRange bytes_of(const cache::BlockRange& blocks, std::uint64_t length);

// `object` with the fields of the answer (RFC 9111 3.4), and whether the result may be stored.
cache::Freshened with_head_of(const sources::Attempt& answer, tiers::Cache& cache,
                              const RunJob& job, const cache::Entry& object);

// Logs that the server has another body than the stored one under a name that the settings call
// immutable.
void warn_of_change(const policy::Request& request, const cache::Entry& stored,
                    const http::ResponseHead& answer);

// Erases the object from the store, because the origin has shown it to be outdated. An answer to
// one client's credentials says nothing about a response stored for all, and erases nothing.
void erase_object(tiers::Cache& cache, const RunJob& job);

// Whether the origin's answer may be stored, and so may serve every reader of the run. If the
// answer allows less than the stored object did, stores the object with the fields of the answer.
bool may_be_kept(tiers::Cache& cache, const RunJob& job, const sources::Attempt& answer);

}  // namespace proxy::blocks
