#include "proxy/answer/image_tag.hpp"

#include <optional>
#include <string>

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
// An answer without a digest, so that a client that tries again soon costs one question.
constexpr seconds kNoDigest{10};
// A client writes the question, of which thousands are kept.
constexpr std::size_t kLongestQuestion = 2048;
// For a registry that is away.
constexpr std::chrono::hours kKept{30 * 24};

bool is_fresh(const KnownAnswers::Answer& known, const client::Client& client,
              const policy::Request& request) {
  const auto& control = request.facts.control;
  const bool is_reload = control.no_cache || control.max_age == seconds(0);
  // A crowd of reloads is one question.
  if (is_reload && known.asked < client.record.begun && !request.facts.offline) return false;
  if (request.facts.offline) return true;
  const auto lasts = known.text.empty() ? kNoDigest : request.facts.freshness.least;
  const auto& url = request.stored_as();
  const auto key = digest::key_of(digest::Method::get, url);
  return client.access.clock().steady() < known.asked + lasts &&
         !client.access.cache().fills.outdated(key, url, known.asked);  // purged since
}

struct Said {
  std::string digest;    // empty: none
  bool is_away = false;  // or has no time for us
};

Task<Said> ask_registry(client::Client& client, const policy::Request& request) {
  auto& access = client.access.fetching.sources;
  auto head = sources::origin_request(request, client.access.name(), {});
  head.replace(0, head.find(' '), "HEAD");
  auto plan = sources::origin_plan(request, std::move(head));
  plan.method = "HEAD";
  sources::Attempt attempt(access, std::move(plan), request);
  const client::ResponseState::WaitsFor waits(client.state, [&attempt] { attempt.abandon(); });
  const auto answered = co_await attempt.ask();
  if (!answered) co_return Said{{}, true};
  const auto& answer = attempt.head();
  const auto digest = answer.status == 200 ? answer.fields.only_value(kDigestField) : "";
  Said said;
  said.is_away = answer.status == 429 || answer.status >= 500;
  if (mirrors::is_image_digest(digest)) said.digest = digest;
  attempt.fetch().finish();
  co_return said;
}

// By a client without credentials.
bool asks_by_tag(const policy::Request& request) {
  if (!sources::is_for_tag(request)) return false;  // mostly
  const auto& facts = request.facts;
  const bool is_plain = facts.method != cache::RequestFacts::Method::other &&
                        !facts.has_credentials && !http::shows_secret(request.head.fields) &&
                        !request.asks_as_sibling();
  return is_plain && sources::tag_question(request).size() <= kLongestQuestion;
}

Task<void> resolve_tag(client::Client& client, policy::Request& request) {
  auto& access = client.access.fetching.sources;
  auto& answers = access.shared.known_answers;
  const auto question = sources::tag_question(request);
  net::Wakeup wakeup(access.executor);
  const net::WaitList::Waiting waiting(answers.line(), wakeup);
  const client::ResponseState::WaitsFor waits(client.state, [&wakeup] { wakeup.notify(); });
  KnownAnswers::Asking asking(answers, question);
  std::optional<KnownAnswers::Answer> known;
  for (;;) {
    known = answers.find(question, access.now());
    if (known && is_fresh(*known, client, request))
      co_return sources::aim_at_digest(request, known->text);
    if (client.state.was_cut || request.facts.offline) co_return;
    if (asking.begin()) break;
    co_await wakeup.wait();
  }
  const auto asked = access.now();
  auto asks = ask_registry(client, request);
  const auto said = co_await asks;
  if (said.is_away) co_return sources::aim_at_digest(request, known ? known->text : std::string());
  const auto kept = said.digest.empty() ? std::chrono::hours(0) + kNoDigest : kKept;
  asking.record({said.digest, asked}, asked + kept);
  answers.note(sources::last_tag_question(request), {said.digest, asked}, asked + kept);
  sources::aim_at_digest(request, said.digest);
}

// What clients of registries look for beside the server's own fields.
void tell_of_image(client::Client& client, const policy::Request& request) {
  const auto part = mirrors::ImagePart::parse(request.target.path());
  if (!part) return;
  if (mirrors::is_image_digest(part->reference) &&
      part->kind != mirrors::ImagePart::Kind::referrers)
    client.state.image_digest = part->reference;
  const auto registry = mirrors::namespace_in(request.head.target);
  if (registry.empty()) return;
  http::PieceWriter field(client.state.fields);
  http::write_field(field, "OCI-Namespace", registry);
  field.flush();
}

Task<void> see_tag(client::Client& client, policy::Request& request) {
  co_await client.response.flush();
  co_await resolve_tag(client, request);
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
