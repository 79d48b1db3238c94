#include "proxy/sources/checking.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proxy/sources/attempt.hpp"
#include "proxy/sources/disown.hpp"
#include "proxy/sources/drain.hpp"
#include "proxy/sources/examination.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/sources/upstream_request.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

// A longer body is not read: its connection is closed.
constexpr std::uint64_t kShort = 64 * 1024;

// An origin that takes longer says nothing, and keeps no check waiting.
constexpr std::chrono::seconds kLongestAnswer{10};

enum class Connection : std::uint8_t { any, fresh };

// Nothing: the origin does not answer, or wants to be left alone.
Task<std::optional<Testimony>> ask_origin(SourceAccess& access, const Request& request,
                                          const Given& given, Connection connection) {
  if (origin_rests(access, request)) co_return std::nullopt;
  const Probes::Running running(access.probes);
  auto plan = origin_plan(request, check_request(request, access.shared.name));
  if (!plan.route.direct) co_return std::nullopt;  // a parent is no witness for the origin
  plan.route = {};
  plan.repeatable = connection == Connection::any;
  plan.first_byte = std::min<std::chrono::milliseconds>(plan.first_byte, kLongestAnswer);
  Attempt attempt(access, std::move(plan));
  const auto answered = co_await attempt.ask();
  if (!answered) co_return std::nullopt;
  const auto length = attempt.length();
  auto testimony = testimony_of(attempt.head(), length, *given.entry, given.length);
  if (length && *length <= kShort) co_await drain_body(access, attempt.fetch());
  co_return testimony;
}

// Drops the response as soon as it is in doubt, so that no further client gets it. Neighbours are
// not asked for its URL for a while, either (Fills::kInvalidated).
Task<Ruling> examine(SourceAccess& access, const Request& request, const Given& given) {
  std::optional<peers::Suspicion::Doubt> doubt;
  std::vector<Testimony> answers;
  for (;;) {
    const auto connection = answers.empty() ? Connection::any : Connection::fresh;
    auto answer = co_await ask_origin(access, request, given, connection);
    if (!answer) co_return Ruling::nothing;
    answers.push_back(std::move(*answer));
    const auto ruling = ruling_on(answers);
    if (ruling != Ruling::ask_again) co_return ruling;
    if (!doubt) {
      const auto& name = request.stored_as();
      const auto key = digest::key_of(digest::Method::get, name);
      co_await forget(access.cache, key, name);
      if (!doubt.emplace(given.by->suspicion, request.target.url()).is_followed_up())
        co_return Ruling::nothing;
    }
    const auto first = request.policy().settings.digest.check_pause;
    net::Timer pause(access.executor, pause_after(answers.size(), first));
    co_await pause.async_wait(net::as_result);
  }
}

Task<void> check(SourceAccess& access, std::unique_ptr<OwnedRequest> request, Given given) {
  auto& peer = *given.by;
  const auto& url = request->get().target.url();
  try {
    peer.accuracy.checked();
    const auto ruling = co_await examine(access, request->get(), given);
    const auto now = steady_clock::now();
    if (ruling == Ruling::origin_varies) peer.suspicion.origin_varies(url, now);
    if (ruling != Ruling::contradicted || !peer.suspicion.may_testify(url, now)) co_return;
    const auto& probation = peer.accuracy.probation();
    const bool is_known =
        probation.resting(now) && probation.reason() == peers::Reason::contradicted;
    peer.accuracy.contradicted(now);
    const auto purged = co_await purge_given(access, peer);
    // Several checks may be under way when the first one ends: its line is the event.
    spdlog::log(
        is_known ? spdlog::level::info : spdlog::level::warn,
        "peer {} is down: its response for {} never was the origin's; it rests, and {}; look at "
        "it, and take it out of peers if this recurs",
        peer.name, url, purged);
  } catch (const std::exception& bug) {
    spdlog::error("a check of {} failed inside this proxy: {}", peer.name, bug.what());
  }
}

}  // namespace

bool is_to_be_checked(SourceAccess& access, const Request& request) {
  return !request.facts.offline &&
         access.probes.chosen(request.policy().settings.digest.check_sample);
}

void check_given(SourceAccess& access, const Request& request, Given given) {
  if (access.probes.full()) return;
  auto task = check(access, std::make_unique<OwnedRequest>(request), std::move(given));
  net::spawn(access.executor, std::move(task));
}

}  // namespace proxy
