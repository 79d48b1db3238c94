// Fetches the blocks of a run: from neighbours that claim the object, then from the origin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/block_runs.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy::blocks {

struct FetchAccess;

struct RunJob {
  std::shared_ptr<BlockRun> run;
  digest::Key key;                                // of the URL
  std::unique_ptr<policy::OwnedRequest> request;  // of a client that reads the run
  std::shared_ptr<tiers::DiskPatience> patience;
};

// Starts a coroutine of its own on the worker's thread. Whatever happens, the coroutine ends the
// run.
void start_run(FetchAccess& access, RunJob job);

// The sources that the caller could ask after the neighbours.
enum class OthersLeft : std::uint8_t { origin, none };
// The neighbours that claim the object are asked for the rest of the run, one after another, in the
// caller's coroutine. The result says how the run ends. It is empty if the neighbours have not
// supplied the whole rest.
net::Task<std::optional<RunEnd>> fetch_from_neighbours(FetchAccess& access, const RunJob& job,
                                                       OthersLeft left);

// A question to the origin for the rest of a run.
struct BegunRest {
  BlockRun::Rest asked;
  sources::Attempt answer;
};
// The blocks that the run has yet to supply, from the first byte of the first one. Bytes of that
// block that have arrived already are fetched again, because no block has bytes of two sources.
BlockRun::Rest whole_blocks_left(BlockRun& run);
// Makes the question to the origin for this rest. The caller asks it.
sources::Attempt rest_at_origin(FetchAccess& access, const RunJob& job,
                                const BlockRun::Rest& asked);
// Whether `answer`, to the question of rest_at_origin(), has the rest `asked`: exactly this range,
// or the whole object.
bool has_rest(sources::Attempt& answer, const RunJob& job, const BlockRun::Rest& asked);
// Fetches the rest of the run from the origin, in the caller's coroutine, and returns how the run
// ends. If a response is cut, asks for the rest, as long as each response supplies enough to be
// worth its request. The run's readers do not notice. `begun`: the question of rest_at_origin(), if
// it has an answer already. The caller has called begin_again() then.
net::Task<RunEnd> fetch_from_origin(FetchAccess& access, const RunJob& job,
                                    std::optional<BegunRest> begun);

}  // namespace proxy::blocks
