// Asks siblings that claim the object, then the origin, for the blocks of a run.
#pragma once

#include <memory>

#include "proxy/fill/block_run.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/request/request.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

struct Worker;

// What an answer is to a request for one range of an object, on the condition that it has not
// changed.
enum class Fit : std::uint8_t {
  range,    // just that
  whole,    // all of it: the origin knows no ranges, or has other reasons
  changed,  // what is held is of no more use
  refused,  // says nothing of what is held
};
// Pure.
Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked);

struct RunJob {
  std::shared_ptr<BlockRun> run;
  digest::Key key;                        // of the URL
  std::unique_ptr<OwnedRequest> request;  // of a client that waits for it
  std::shared_ptr<DiskPatience> patience = std::make_shared<DiskPatience>();
};

// As a coroutine of its own on the worker's thread. The run comes to its end whatever happens.
void start_run(Worker& worker, RunJob job);

// What the run has yet to bring, in the caller's coroutine: why it is to end then. What is cut goes
// on from there, unseen by who reads, as long as each answer brings enough to be worth it.
net::Task<Failure> bring_from_origin(Worker& worker, const RunJob& job);

}  // namespace proxy
