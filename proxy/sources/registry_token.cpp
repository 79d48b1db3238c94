#include "proxy/sources/registry_token.hpp"

#include <memory>

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

struct Given {
  Token token;                            // nothing: the server gives none
  std::unique_ptr<upstream::Fetch> busy;  // see TokenGot
};

Task<Outcome<Given>> ask_for_token(SourceAccess& access, const policy::Policy& policy,
                                   const http::Target& url, const http::Target& registry) {
  const auto end = access.now() + policy.settings.timeouts.first_byte;
  Given given;
  auto asked =
      std::make_unique<upstream::Fetch>(access.upstream, plan_for(access, policy, url, registry));
  auto& fetch = *asked;
  const auto started = co_await fetch.start();
  if (!started) co_return started.error();
  unsigned status = 0;
  for (int heads = 0; status < 200; ++heads) {
    const auto head = co_await fetch.response();
    if (!head) co_return head.error();
    if (heads == 8) co_return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
    status = (*head)->status;
  }
  if (status == 429 || status >= 500) {
    given.busy = std::move(asked);
  } else if (status == 200) {
    auto reads = read_short_body(access, fetch, mirrors::AnonymousToken::kMostBytes, end);
    const auto body = co_await reads;
    if (!body) co_return body.error();
    if (*body) given.token = mirrors::AnonymousToken::parse(**body);
  }
  co_return Outcome<Given>(std::move(given));
}

}  // namespace

std::string token_question(const http::Target& url, std::string_view name) {
  return std::string("token ").append(url.authority()).append("/").append(name);
}

Task<Outcome<TokenGot>> anonymous_token(SourceAccess& access, const policy::Policy& policy,
                                        const TokenWanted& wanted) {
  TokenGot got;
  const auto url = mirrors::token_url(wanted.challenge, wanted.name);
  if (!url || !may_ask(policy, *url, wanted.url)) co_return Outcome<TokenGot>(std::move(got));
  auto& known_answers = access.shared.servers.tokens;
  const auto question = token_question(wanted.url, wanted.name);
  const auto end = access.now() + policy.settings.timeouts.first_byte;
  net::Wakeup wakeup(access.executor);
  const net::WaitList::Waiting waiting(known_answers.line(), wakeup);
  upstream::KnownAnswers::Asking asking(known_answers, question);
  for (;;) {
    const auto known = known_answers.find(question, access.now());
    // Another one may have asked since this one's was refused.
    if (known && (known->text.empty() || known->text != wanted.sent)) {
      got.token = known->text;
      co_return Outcome<TokenGot>(std::move(got));
    }
    if (asking.begin()) break;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - access.now());
    if (left <= left.zero()) co_return kTimedOut;
    co_await wakeup.wait(left);
  }
  const auto asked = access.now();
  auto asks = ask_for_token(access, policy, *url, wanted.url);
  auto given = co_await asks;
  if (!given) co_return given.error();
  const auto& token = given->token;
  got.busy = std::move(given->busy);
  if (token) got.token = token->text;
  const auto lasts = token ? std::max(token->lasts - kMargin, kMargin) : kDenied;
  if (!got.busy) asking.record({got.token, asked}, asked + lasts);
  co_return Outcome<TokenGot>(std::move(got));
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
