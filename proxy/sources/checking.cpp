#include "proxy/sources/checking.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/counted.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/cache/purge_pattern.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::sources {

using http::field;
using net::Task;

namespace {

constexpr int kGrowth = 5;

// Last-Modified and Date may be a little apart in a response that was made while the file changed.
constexpr std::chrono::minutes kWellBefore{1};

// Whether the origin's version is older than the neighbour's copy of it.
bool unchanged_since(const http::Fields& origin, std::chrono::sys_seconds date) {
  const auto modified = http::parse_date(origin.value(field::last_modified), date);
  return modified && *modified + kWellBefore < date;
}

std::string version_of(const http::ResponseHead& origin, std::optional<std::uint64_t> length) {
  const auto& fields = origin.fields;
  if (origin.status != 200 || !http::agrees_on_validators(fields)) return {};
  std::string version(fields.value(field::etag));
  version.append("\n").append(fields.value(field::last_modified)).append("\n");
  return length ? version + std::to_string(*length) : version;
}

// A longer body is not read: its connection is closed.
constexpr std::uint64_t kShort = 64 * 1024;

// An origin that takes longer says nothing, and keeps no check waiting.
constexpr std::chrono::seconds kLongestAnswer{10};

enum class Connection : std::uint8_t { any, fresh };

// Purges all that the neighbour gave and no origin has confirmed: in memory, on disk and under way.
// Returns what a person is told of it.
Task<std::string> purge_given(SourceAccess& access, const peers::Peer& peer) {
  const cache::PurgePattern all_of_it(cache::Giver{peer.tag});
  const auto forgotten = co_await access.cache.forget(all_of_it);  // never refused
  const auto [dropped, owed] = forgotten.value();
  const auto* const on_disk = owed ? "; those on disk may come back after a crash" : "";
  co_return fmt::format("{} dropped from memory{}",
                        config::counted(dropped, "unconfirmed response of it was",
                                        "unconfirmed responses of it were"),
                        on_disk);
}

Task<void> purge_and_say(SourceAccess& access, peers::PeerRef peer) {
  try {
    const auto purged = co_await purge_given(access, *peer);
    spdlog::warn(
        "peer {}: what answers at {} is not this neighbour: it named neither the epoch nor "
        "the proxy that our polls have found there; {}",
        peer->name, peer->url, purged);
  } catch (const std::exception& bug) {
    spdlog::error("a purge of what {} gave failed inside this proxy: {}", peer->name, bug.what());
  }
}

// Nothing: the origin does not answer, or wants to be left alone.
Task<std::optional<Testimony>> ask_origin(SourceAccess& access, const policy::Request& request,
                                          const Given& given, Connection connection) {
  if (origin_rests(access, request)) co_return std::nullopt;
  const Probes::Running running(access.probes);
  auto plan = origin_plan(request, check_request(request, access.shared.name));
  if (!plan.route.direct) co_return std::nullopt;  // a parent is no witness for the origin
  plan.route = {};
  // Another connection may lead to another server behind the same address.
  plan.repeatable = connection == Connection::any;
  plan.first_byte = std::min<std::chrono::milliseconds>(plan.first_byte, kLongestAnswer);
  Attempt attempt(access, std::move(plan), request);
  const auto answered = co_await attempt.ask();
  if (!answered) co_return std::nullopt;
  const auto length = attempt.length();
  auto testimony = testimony_of(attempt.head(), length, *given.entry, given.length);
  if (length && *length <= kShort) co_await drain_body(access, attempt.fetch());
  co_return testimony;
}

// Drops the response as soon as it is in doubt, so that no further client gets it. Neighbours are
// not asked for its URL for a while, either (Fills::kInvalidated).
Task<Ruling> examine(SourceAccess& access, const policy::Request& request, const Given& given) {
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
      co_await access.cache.forget(key, name);
      if (!doubt.emplace(given.by->suspicion, std::string(policy::url_for_others(request)))
               .is_followed_up())
        co_return Ruling::nothing;
    }
    const auto first = request.policy().settings.digest.check_pause;
    net::Timer pause(access.executor, pause_after(answers.size(), first));
    co_await pause.async_wait(net::as_result);
  }
}

Task<void> check(SourceAccess& access, std::unique_ptr<policy::OwnedRequest> request, Given given) {
  auto& peer = *given.by;
  const std::string url(policy::url_for_others(request->get()));
  try {
    // Counted before the answer: a check that the origin does not answer was made, too.
    peer.accuracy.checked();
    const auto ruling = co_await examine(access, request->get(), given);
    const auto now = access.now();
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

Task<void> probe(SourceAccess& access, Attempt attempt) {
  const Probes::Running running(access.probes);
  const auto& peer = attempt.peer();
  try {
    const auto answered = co_await attempt.ask();
    if (!answered) co_return;
    const auto held = says_it_holds(attempt.head());
    if (held) peer->accuracy.probed();
    if (held && *held) peer->accuracy.missed();
  } catch (const std::exception& bug) {
    spdlog::error("a question to {} failed inside this proxy: {}", peer->name, bug.what());
  }
}

}  // namespace

bool contradicts(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                 const cache::Entry& given, std::optional<std::uint64_t> length) {
  // Only two answers of the same kind can be compared: an error, or a part, may differ for its own
  // reasons.
  const bool both_whole = origin.status == 200 && given.has_content();
  if (!both_whole || !http::agrees_on_validators(origin.fields)) return false;
  const bool other_length = length && origin_length && *length != *origin_length &&
                            cache::same_coding(given, origin.fields);
  if (cache::same_version(given, origin.fields)) return other_length;
  if (!unchanged_since(origin.fields, given.date())) return false;
  if (http::weakly_equal(origin.fields.value(field::etag), given.quotes().etag)) return false;
  const bool other_date = origin.fields.value(field::last_modified) != given.quotes().last_modified;
  return other_date || other_length;
}

Testimony testimony_of(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                       const cache::Entry& given, std::optional<std::uint64_t> length) {
  return {contradicts(origin, origin_length, given, length), version_of(origin, origin_length)};
}

Ruling ruling_on(std::span<const Testimony> answers) {
  const auto& last = answers.back();
  if (last.version.empty()) return Ruling::nothing;
  // Each answer must be of one version: an origin that changes meanwhile is no witness.
  const bool agrees = last.contradicts && last.version == answers.front().version;
  if (!agrees) return answers.size() == 1 ? Ruling::nothing : Ruling::origin_varies;
  return answers.size() < kQuestions ? Ruling::ask_again : Ruling::contradicted;
}

std::chrono::milliseconds pause_after(std::size_t answers, std::chrono::milliseconds first) {
  auto pause = first;
  for (std::size_t i = 1; i < answers; ++i) pause *= kGrowth;
  return pause;
}

bool is_to_be_checked(SourceAccess& access, const policy::Request& request,
                      const cache::Entry& given, Came came) {
  const bool is_verified = came == Came::whole && policy::content_of(request);
  // No origin knows that tag.
  const bool is_comparable = !policy::has_tag_of_digest(given, request);
  return !request.facts.offline && !is_verified && is_comparable &&
         access.probes.chosen(request.policy().settings.digest.samples.check);
}

void check_given(SourceAccess& access, const policy::Request& request, Given given) {
  if (access.probes.full()) return;
  auto task = check(access, std::make_unique<policy::OwnedRequest>(request), std::move(given));
  net::spawn(access.executor, std::move(task));
}

void sample_false_miss(SourceAccess& access, const digest::Key& key,
                       const policy::Request& request) {
  auto& probes = access.probes;
  if (!probes.chosen(request.policy().settings.digest.samples.false_miss) || probes.full()) return;
  const auto number = static_cast<std::uint32_t>(probes.random());
  const auto rule = digest::mark_of(request.facts.rule);
  const auto peer =
      request.policy().directory->other_than_claimants(key, access.now(), number, rule);
  if (!peer || !request.policy().routes.may_ask(peer->id, request.target)) return;
  net::spawn(access.executor, probe(access, probe_of(access, peer, request)));
}

void disown(SourceAccess& access, const peers::PeerRef& peer) {
  net::spawn(access.executor, purge_and_say(access, peer));
}

}  // namespace proxy::sources
