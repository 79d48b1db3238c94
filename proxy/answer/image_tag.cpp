#include "proxy/answer/image_tag.hpp"

#include <optional>
#include <string>

#include "proxy/cache/combine.hpp"
#include "proxy/http/secrets.hpp"
#include "proxy/http/text.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/sources/allowed.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/known_tags.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::answer {

using net::Soon;
using net::Task;
using std::chrono::seconds;
using upstream::KnownAnswers;

namespace {

constexpr std::string_view kDigestField = "Docker-Content-Digest";
// The longest manifest that is read to find its digest. The specification asks registries to take
// manifests of this length, and none that are longer.
constexpr std::size_t kLongestManifest = 4 << 20;
// For this time an answer without a digest is fresh, so that a client that tries again soon costs
// one question.
constexpr seconds kNoDigest{10};
// The longest question that is recorded: a client writes it, and thousands are kept.
constexpr std::size_t kLongestQuestion = 2048;
// The answers to all questions about tags are kept for this time, in case the registry goes away.
// An answer of a shorter time would be forgotten before all others.
constexpr std::chrono::hours kKept{30 * 24};

bool is_fresh(const KnownAnswers::Answer& known, const client::Client& client,
              const policy::Request& request) {
  const auto& control = request.facts.control;
  const bool is_reload = control.no_cache || control.max_age == seconds(0);
  // A crowd of reloads is one question.
  if (is_reload && known.asked < client.record.begun && !request.facts.offline) return false;
  if (request.facts.offline) return true;
  const bool has_digest = mirrors::is_image_digest(known.text);
  const auto lasts = has_digest ? request.facts.freshness.least : kNoDigest;
  const auto& url = request.stored_as();
  const auto key = digest::key_of(digest::Method::get, url);
  return client.access.clock().steady() < known.asked + lasts &&
         !client.access.cache().fills.outdated(key, url, known.asked);  // purged since
}

struct Said {
  unsigned status = 504;
  std::string digest = {};  // empty: none

  // Whether the registry does not answer, or has no time for us.
  [[nodiscard]] bool is_away() const { return status == 429 || (status >= 500 && status != 501); }
  // Whether a GET may tell more than this answer to a HEAD.
  [[nodiscard]] bool leaves_open() const {
    return digest.empty() && (status == 200 || status == 405 || status == 501);
  }
};

// `method`: HEAD, which some registries do not count as a pull, or GET, whose body is hashed if the
// head does not tell its digest.
Task<Said> ask_registry(client::Client& client, const policy::Request& request,
                        std::string_view method) {
  auto& access = client.access.fetching.sources;
  auto head = sources::origin_request(request, client.access.name(), {});
  head.replace(0, head.find(' '), method);
  auto plan = sources::origin_plan(request, std::move(head));
  plan.method = method;
  sources::Attempt attempt(access, std::move(plan), request);
  const client::ResponseState::WaitsFor waits(client.state, [&attempt] { attempt.abandon(); });
  const auto answered = co_await attempt.ask();
  Said said;
  if (!answered) {
    if (answered.error().cause == upstream::Errc::needs_credentials) said.status = 404;
    co_return said;
  }
  const auto& answer = attempt.head();
  said.status = answer.status;
  const auto digest = answer.status == 200 ? answer.fields.only_value(kDigestField) : "";
  if (mirrors::is_image_digest(digest)) said.digest = digest;
  if (method == "GET" && said.status == 200 && said.digest.empty() &&
      !cache::is_coded(answer.fields)) {
    const auto end = access.now() + request.policy().settings.timeouts.body;
    auto reads = sources::read_short_body(access, attempt.fetch(), kLongestManifest, end);
    const auto body = co_await reads;
    if (!body) said.status = 504;  // a body that was cut says nothing of the tag
    if (body && *body) said.digest = mirrors::image_digest_of(**body);
    co_return said;
  }
  attempt.fetch().finish();
  co_return said;
}

// `found`: a digest, or empty if the registry has named none. Then the response is for this client
// alone: another client may want another form of the manifest. A 404 counts as none, since a
// registry may know a tag by GET alone.
void aim_at(policy::Request& request, const std::string& found) {
  if (found.empty()) return void(request.facts.never_store = true);
  sources::aim_at_digest(request, found);
}

// Asks those neighbours that have a record of the tag, in place of a registry that is away. Returns
// an empty text if none of them answers. A guest's word does not count.
Task<std::string> ask_neighbours(client::Client& client, const policy::Request& request) {
  auto& access = client.access.fetching.sources;
  const auto& directory = request.policy().directory;
  if (!request.may_be_shared()) co_return std::string();
  const auto claimants = directory->claimants(sources::tag_record_key(request), access.now());
  for (const auto& peer : claimants) {
    if (client.state.was_cut) break;
    if (sources::why_barred(*peer, request, {})) continue;
    const sources::SiblingQuestion question{.stale_will_do = true};
    auto attempt = sources::attempt_at(access, peer, request, question);
    const client::ResponseState::WaitsFor waits(client.state, [&attempt] { attempt.abandon(); });
    const auto answered = co_await attempt.ask();
    const auto finding = answered ? sources::finding_in(attempt.head(), question)
                                  : sources::finding_in(answered.error());
    sources::record_worth(*directory, attempt, finding, access.now());
    if (!answered || attempt.head().status != 200) continue;
    const auto digest = sources::digest_said_by(attempt.head().fields);
    co_await sources::drain_body(access, attempt.fetch());
    if (!digest.empty()) co_return digest;
  }
  co_return std::string();
}

// What the tag named before this process began, or names for a neighbour.
Task<std::string> find_old_digest(client::Client& client, const policy::Request& request) {
  auto finding = sources::recorded_digest(client.access.fetching.sources, request);
  auto digest = co_await finding;
  if (!digest.empty() || request.facts.offline) co_return digest;
  auto asking = ask_neighbours(client, request);
  digest = co_await asking;
  co_return digest;
}

// For a request whose registry cannot be asked.
void aim_at_old(client::Client& client, policy::Request& request, const std::string& digest) {
  client.record.by_old_tag = !digest.empty();
  aim_at(request, digest);
}

// By a client without credentials.
bool asks_by_tag(const policy::Request& request) {
  if (!sources::is_for_tag(request)) return false;  // mostly
  const auto& facts = request.facts;
  return facts.method != cache::RequestFacts::Method::other && !facts.has_credentials &&
         !http::shows_secret(request.head.fields);
}

// Asks the registry, and records its answer. If the registry is away, what is known counts still.
Task<void> ask_and_record(client::Client& client, policy::Request& request,
                          KnownAnswers::Asking& asking, std::optional<KnownAnswers::Answer> known) {
  auto& access = client.access.fetching.sources;
  const auto asked = access.now();
  auto asks = ask_registry(client, request, "HEAD");
  auto said = co_await asks;
  if (said.leaves_open()) {
    auto reads = ask_registry(client, request, "GET");
    said = co_await reads;
  }
  if (said.is_away()) {
    auto last = known.value_or(KnownAnswers::Answer{{}, KnownAnswers::Time::min()});
    // What failed before anything was known must not hide what others know by now.
    const bool was_answered = known && known->asked != KnownAnswers::Time::min();
    if (!was_answered && last.text.empty()) {
      auto finds = find_old_digest(client, request);
      last.text = co_await finds;
    }
    last.failed = access.now();
    // The question of a client that leaves fails without a fault of the registry.
    if (!client.state.was_cut) asking.record(last, last.failed + kKept);
    co_return aim_at_old(client, request, last.text);
  }
  asking.record({said.digest, asked}, asked + kKept);
  access.shared.servers.tags.record(sources::last_tag_question(request), {said.digest, asked},
                                    asked + kKept);
  auto recording = sources::record_digest(access, request, said.digest);
  co_await recording;
  aim_at(request, said.digest);
}

Task<void> resolve_tag(client::Client& client, policy::Request& request) {
  auto& access = client.access.fetching.sources;
  auto& answers = access.shared.servers.tags;
  const auto question = sources::tag_question(request);
  net::Wakeup wakeup(access.executor);
  const net::WaitList::Waiting waiting(answers.line(), wakeup);
  const client::ResponseState::WaitsFor waits(client.state, [&wakeup] { wakeup.notify(); });
  KnownAnswers::Asking asking(answers, question);
  std::optional<KnownAnswers::Answer> known;
  const auto begun = access.now();
  const auto end = begun + request.policy().settings.timeouts.first_byte;
  for (;;) {
    known = answers.find(question, access.now());
    if (known && is_fresh(*known, client, request)) co_return aim_at(request, known->text);
    if (client.state.was_cut) co_return;
    if (request.facts.offline) {
      auto finds = find_old_digest(client, request);
      const auto digest = co_await finds;
      co_return aim_at_old(client, request, digest);
    }
    // A crowd waits for a silent registry once.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - access.now());
    if (left <= left.zero() || (known && known->failed >= begun)) {
      auto digest = known ? known->text : std::string();
      if (!known) {
        auto finds = sources::recorded_digest(access, request);
        digest = co_await finds;
      }
      co_return aim_at_old(client, request, digest);
    }
    if (asking.begin()) break;
    co_await wakeup.wait(left);
  }
  auto asks = ask_and_record(client, request, asking, std::move(known));
  co_await asks;
}

// Answers a neighbour by what is known: a new question to the registry is not its business. What
// may be outdated counts only if the neighbour says so. If it has our rule for the tag, it has that
// for the manifest, too.
Task<void> resolve_for_neighbour(client::Client& client, policy::Request& request) {
  auto& access = client.access.fetching.sources;
  const auto known = access.shared.servers.tags.find(sources::tag_question(request), access.now());
  const bool stale_will_do = request.facts.control.max_stale.has_value();
  std::string digest;
  if (known && (stale_will_do || is_fresh(*known, client, request))) digest = known->text;
  if (digest.empty() && stale_will_do) {
    auto finding = sources::recorded_digest(access, request);
    digest = co_await finding;
  }
  const bool has_our_rule = request.facts.asked_rule == request.facts.rule;
  sources::aim_at_digest(request, digest);
  if (has_our_rule) request.facts.asked_rule = request.facts.rule;
}

// What clients of registries look for beside the server's own fields.
void tell_of_image(client::Client& client, const policy::Request& request) {
  const auto part = mirrors::ImagePart::parse(request.target.path());
  if (!part) return;
  if (part->names_body()) client.state.image_digest = part->reference;
  const auto registry = mirrors::namespace_in(request.head.target);
  if (registry.empty()) return;
  http::PieceWriter field(client.state.fields);
  http::write_field(field, "OCI-Namespace", registry);
  field.flush();
}

Task<void> see_tag(client::Client& client, policy::Request& request) {
  co_await client.response.flush();
  const bool is_known_to_fit = sources::tag_question(request).size() <= kLongestQuestion;
  if (is_known_to_fit && request.asks_as_sibling()) {
    co_await resolve_for_neighbour(client, request);
  } else if (is_known_to_fit) {
    co_await resolve_tag(client, request);
  } else {
    aim_at(request, {});
  }
  tell_of_image(client, request);
}

}  // namespace

Soon<void> see_image(client::Client& client, policy::Request& request,
                     crowd::RequestUnderWay& under_way, const crowd::RequestLimits& most) {
  if (!request.policy().rules.registries().any()) return {};  // mostly
  if (asks_by_tag(request) && under_way.begin(most)) return see_tag(client, request);
  if (client.state.mirrored) tell_of_image(client, request);
  return {};
}

}  // namespace proxy::answer
