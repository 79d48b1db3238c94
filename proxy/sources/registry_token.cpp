#include "proxy/sources/registry_token.hpp"

#include <algorithm>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::sources {

using net::Task;
using std::chrono::seconds;
using upstream::Failure;
using upstream::Outcome;

namespace {

// A token is used until so long before its end, so that it does not end on its way.
constexpr seconds kMargin{10};
// For how long nobody asks again after a token server has given none.
constexpr seconds kDenied{10};
// The longest time to wait for that a client is told.
constexpr seconds kLongestWait{3600};

using Token = std::optional<mirrors::AnonymousToken>;

// A realm on a private address may be another service of the site, unless that is the registry's
// own host, or one that the site mirrors.
upstream::Endpoint realm_of(const policy::Policy& policy, const http::Target& url,
                            const http::Target& registry) {
  auto realm = origin_of(url, policy.lists);
  const bool is_known = url.host() == registry.host() || policy.mirrored_hosts.have(url);
  if (!is_known && realm.named_by == upstream::NamedBy::client)
    realm.named_by = upstream::NamedBy::stranger;
  return realm;
}

upstream::FetchPlan plan_for(const SourceAccess& access, const policy::Policy& policy,
                             const http::Target& url, const http::Target& registry) {
  static const http::Fields kNoFields;
  constexpr std::array kExtra{http::Field{http::field::accept, "Accept", "application/json"},
                              http::Field{http::field::user_agent, "User-Agent", "hearsay"}};
  std::string head;
  http::append_request_head(head, {.method = "GET",
                                   .target = url.asked_path(),
                                   .host = url.authority(),
                                   .fields = kNoFields,
                                   .name = access.shared.name,
                                   .extra = kExtra});
  const auto& timeouts = policy.settings.timeouts;
  return {.to = realm_of(policy, url, registry),
          .route = policy.routes.find(url),
          .asked = upstream::FetchPlan::Asked::redirected,
          .head = std::move(head),
          .method = "GET",
          .connect = timeouts.connect,
          .first_byte = timeouts.first_byte};
}

// A realm is a URL that a stranger chose. A site may list a token server of its own.
bool may_ask(const policy::Policy& policy, const http::Target& realm,
             const http::Target& registry) {
  const bool is_trusted = policy.rules.registries().may_ask_for_token(realm, registry) ||
                          policy.mirrored_hosts.have(realm);
  return is_trusted && !policy.lists.blocks(realm);
}

constexpr Failure kTimedOut{Failure::Where::upstream, Failure::What::timed_out, {}};

// The server has no time, and may say in how many seconds it has.
Failure no_time(const http::ResponseHead& answer) {
  auto failure = upstream::failure_of(Failure::Where::upstream, upstream::Errc::no_token);
  const auto after = http::parse_decimal(answer.fields.only_value("Retry-After")).value_or(0);
  failure.status =
      static_cast<std::uint16_t>(answer.status > http::kLastStatus ? 502 : answer.status);
  failure.retry_after =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(after, kLongestWait.count()));
  return failure;
}

// A failure as KnownAnswers keep it for those who wait for the same question.
std::string text_of(const Failure& failure) {
  return std::to_string(failure.status) + ' ' + std::to_string(failure.retry_after);
}

Failure failure_in(std::string_view text) {
  const auto space = text.find(' ');
  const auto status = http::parse_decimal(text.substr(0, space)).value_or(0);
  if (status == 0) return kTimedOut;
  auto failure = upstream::failure_of(Failure::Where::upstream, upstream::Errc::no_token);
  failure.status = static_cast<std::uint16_t>(status);
  const auto after = http::parse_decimal(text.substr(space + 1)).value_or(0);
  failure.retry_after = static_cast<std::uint32_t>(after);
  return failure;
}

// Nothing: the server gives none.
Task<Outcome<Token>> ask_for_token(SourceAccess& access, const policy::Policy& policy,
                                   const http::Target& url, const http::Target& registry) {
  const auto end = access.now() + policy.settings.timeouts.first_byte;
  upstream::Fetch fetch(access.upstream, plan_for(access, policy, url, registry));
  const auto started = co_await fetch.start();
  if (!started) co_return started.error();
  unsigned status = 0;
  for (int heads = 0; status < 200; ++heads) {
    const auto head = co_await fetch.response();
    if (!head) co_return head.error();
    if (heads == 8) co_return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
    status = (*head)->status;
  }
  if (status == 429 || status >= 500) co_return no_time(fetch.head());
  if (status != 200) co_return Token();
  auto reads = read_short_body(access, fetch, mirrors::AnonymousToken::kMostBytes, end);
  const auto body = co_await reads;
  if (!body) co_return body.error();
  auto token = *body ? mirrors::AnonymousToken::parse(**body) : Token();
  co_return Outcome<Token>(std::move(token));
}

}  // namespace

std::string token_question(const http::Target& url, std::string_view name) {
  return std::string("token ").append(url.authority()).append("/").append(name);
}

Task<Outcome<std::string>> anonymous_token(SourceAccess& access, const policy::Policy& policy,
                                           const TokenWanted& wanted) {
  const auto url = mirrors::token_url(wanted.challenge, wanted.name);
  if (!url || !may_ask(policy, *url, wanted.url)) co_return std::string();
  auto& known_answers = access.shared.servers.tokens;
  const auto question = token_question(wanted.url, wanted.name);
  const auto begun = access.now();
  const auto end = begun + policy.settings.timeouts.first_byte;
  net::Wakeup wakeup(access.executor);
  const net::WaitList::Waiting waiting(known_answers.line(), wakeup);
  upstream::KnownAnswers::Asking asking(known_answers, question);
  for (;;) {
    const auto known = known_answers.find(question, access.now());
    if (known && known->failed >= begun) co_return failure_in(known->text);
    // Another one may have asked since this one's was refused.
    const bool is_token = known && !known->has_failed();
    if (is_token && (known->text.empty() || known->text != wanted.sent)) co_return known->text;
    if (asking.begin()) break;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - access.now());
    if (left <= left.zero()) co_return kTimedOut;
    co_await wakeup.wait(left);
  }
  const auto asked = access.now();
  auto asks = ask_for_token(access, policy, *url, wanted.url);
  const auto given = co_await asks;
  if (!given) {
    const auto failed = access.now();
    asking.record({text_of(given.error()), asked, failed}, failed + kDenied);
    co_return given.error();
  }
  const auto& token = *given;
  const auto lasts = token ? std::max(token->lasts - kMargin, kMargin) : kDenied;
  const auto text = token ? token->text : std::string();
  asking.record({text, asked}, asked + lasts);
  co_return text;
}

std::string authorized_head(std::string_view head, std::string_view token) {
  constexpr std::string_view kName = "Authorization";
  std::string out;
  out.reserve(head.size() + token.size() + 32);
  while (head.size() > 2) {
    const auto line = head.substr(0, head.find("\r\n") + 2);
    head.remove_prefix(line.size());
    if (!http::same_word(line.substr(0, line.find(':')), kName)) out += line;
  }
  ((out += kName) += ": Bearer ") += token;
  return out += "\r\n\r\n";
}

}  // namespace proxy::sources
