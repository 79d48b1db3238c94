// The writing side of a fill: finds a source, judges its answer, streams and stores it.
#pragma once

#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/fetching/origin_answer.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/http/range.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/allowed.hpp"
#include "proxy/sources/attempt.hpp"

namespace proxy::blocks {
struct FetchAccess;
}

namespace proxy::fetching {

struct FillJob {
  std::shared_ptr<fill::Fill> fill;
  digest::Key key;
  std::unique_ptr<policy::OwnedRequest> request;
  cache::Verdict how;  // fetch, revalidate or complete
  // The stored response that may be validated, completed or stand in; or nothing.
  cache::Kept stored;
  // A time before the look-up: a response is not stored if its URL was purged after it.
  std::chrono::steady_clock::time_point asked;
  // The range to ask for in place of the client's, without the client's If-Range: mostly the blocks
  // around the client's range. A fill with a range override may be listed.
  std::optional<http::AskedRange> range_override = {};
  RangeAsked range = RangeAsked::any;
  // As range_override, for siblings.
  std::optional<http::AskedRange> sibling_range = {};
  sources::Allowed allowed = {};  // by the verdict `how`
  bool refresh = false;  // no client waits: the answer is for the store; a failure changes nothing
};

// Whether an answer to a request with the verdict `how`, which is stored or not for the reason
// `why`, tells if other requests may have the response. An answer for a part does not, nor does one
// that is not stored because of the request's own fields.
bool tells_of_sharing(const cache::Verdict& how, cache::Storability why);

// Runs the job as a coroutine of its own on the worker's thread. The fill is published and
// finished, or failed, whatever happens. `begun`: the origin was asked already, and Attempt::ask()
// has returned; the job then asks no neighbour.
void start_fetching(blocks::FetchAccess& access, FillJob job,
                    std::optional<sources::Attempt> begun = std::nullopt);

}  // namespace proxy::fetching
