#include "proxy/answer/image_tag.hpp"

#include <optional>
#include <string>

#include "proxy/cache/combine.hpp"
#include "proxy/http/secrets.hpp"
#include "proxy/http/text.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/known_tags.hpp"
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

// By a client without credentials.
bool asks_by_tag(const policy::Request& request) {
  if (!sources::is_for_tag(request)) return false;  // mostly
  const auto& facts = request.facts;
  return facts.method != cache::RequestFacts::Method::other && !facts.has_credentials &&
         !http::shows_secret(request.head.fields) && !request.asks_as_sibling();
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
    if (client.state.was_cut || request.facts.offline) co_return;
    // A crowd waits for a silent registry once.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - access.now());
    if (left <= left.zero() || (known && known->failed >= begun))
      co_return aim_at(request, known ? known->text : std::string());
    if (asking.begin()) break;
    co_await wakeup.wait(left);
  }
  const auto asked = access.now();
  auto asks = ask_registry(client, request, "HEAD");
  auto said = co_await asks;
  if (said.leaves_open()) {
    auto reads = ask_registry(client, request, "GET");
    said = co_await reads;
  }
  if (said.is_away()) {
    auto last = known.value_or(KnownAnswers::Answer{{}, KnownAnswers::Time::min()});
    last.failed = access.now();
    // The question of a client that leaves fails without a fault of the registry.
    if (!client.state.was_cut) asking.record(last, last.failed + kKept);
    co_return aim_at(request, last.text);
  }
  asking.record({said.digest, asked}, asked + kKept);
  answers.record(sources::last_tag_question(request), {said.digest, asked}, asked + kKept);
  aim_at(request, said.digest);
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
  if (is_known_to_fit) {
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
