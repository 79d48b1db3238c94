#include "proxy/sources/checking.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/detached.hpp>
#include <utility>

#include "proxy/purging/purge_pattern.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/contradiction.hpp"
#include "proxy/sources/drain.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"
#include "proxy/tiers/tiers.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

constexpr int kContradictions = 3;
// A longer body is not read: its connection is closed.
constexpr std::uint64_t kShort = 64 * 1024;

Task<bool> origin_contradicts(Worker& worker, const Request& request, const Given& given) {
  auto head = check_request(request, worker.process.name);
  Attempt attempt(worker, origin_plan(request, std::move(head)));
  const auto answered = co_await attempt.ask();
  if (!answered) co_return false;
  const auto length = attempt.length();
  const bool does = contradicts(attempt.head(), length, *given.entry, given.length);
  if (length && *length <= kShort) co_await drain_body(worker, attempt.fetch());
  co_return does;
}

Task<void> check(Worker& worker, std::unique_ptr<OwnedRequest> request, Given given) {
  const Probes::Running running(worker.probes);
  try {
    given.by->accuracy.checked();
    for (int times = 0; times < kContradictions; ++times) {
      const bool contradicted = co_await origin_contradicts(worker, request->get(), given);
      if (!contradicted) co_return;
    }
    distrust(worker, given.by, request->get().target.url());
  } catch (const std::exception& bug) {
    spdlog::error("a check of {} failed inside this proxy: {}", given.by->name, bug.what());
  }
}

Task<void> purge_given(Worker& worker, peers::PeerRef peer) {
  const PurgePattern all_of_it(cache::Giver{peer->tag});
  try {
    const auto forgotten = co_await forget(worker, all_of_it);
    if (forgotten) {
      spdlog::warn("{} unconfirmed responses of the neighbour {} were dropped from memory",
                   forgotten->dropped, peer->name);
    } else {
      spdlog::error("the responses of the neighbour {} stay, since too many purges are under way",
                    peer->name);
    }
  } catch (const std::exception& bug) {
    spdlog::error("a purge failed inside this proxy: {}", bug.what());
  }
}

}  // namespace

void sample_given(Worker& worker, const Request& request, Given given) {
  const double share = request.policy().settings.digest.check_sample;
  if (worker.probes.chosen(share)) check_given(worker, request, std::move(given));
}

void check_given(Worker& worker, const Request& request, Given given) {
  if (worker.probes.full()) return;
  auto task = check(worker, std::make_unique<OwnedRequest>(request), std::move(given));
  net::asio::co_spawn(worker.io.get_executor(), std::move(task), net::asio::detached);
}

void distrust(Worker& worker, peers::PeerRef peer, std::string_view url) {
  spdlog::warn("the neighbour {} gave a response for {} that never was the origin's; it rests",
               peer->name, url);
  peer->accuracy.contradicted(steady_clock::now());
  auto task = purge_given(worker, std::move(peer));
  net::asio::co_spawn(worker.io.get_executor(), std::move(task), net::asio::detached);
}

}  // namespace proxy
