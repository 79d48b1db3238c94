// What the head of an answer to a run's request means for the object that is held.
#pragma once

#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/sources/attempt.hpp"

namespace proxy {

struct Process;

// The bytes of those blocks of an object of that length.
http::ByteRange bytes_of(const cache::BlockRange& blocks, std::uint64_t length);

// The run's object with the fields of the answer (RFC 9111 3.4), and whether that may be kept.
cache::Freshened with_head_of(const Attempt& answer, Process& process, const RunJob& job,
                              const cache::Entry& object);

// Erases the object from the store, as the origin has shown it to be outdated. An answer that one
// client's credentials brought says nothing of what is stored for all, and erases nothing.
void erase_object(Process& process, const RunJob& job);

// Whether the origin's answer may be kept, and so be given to all who read the run. If the answer
// allows less than the stored object, the store gets the object as the answer describes it.
bool may_be_kept(Process& process, const RunJob& job, const Attempt& answer);

}  // namespace proxy
