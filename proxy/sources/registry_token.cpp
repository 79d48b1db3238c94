#include "proxy/sources/registry_token.hpp"

#include <memory>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::sources {

using net::Task;
using std::chrono::seconds;
using upstream::Failure;
using upstream::Outcome;

namespace {

// So that a token does not end on its way.
constexpr seconds kMargin{10};
// For how long nobody asks again after a token server has given none.
constexpr seconds kDenied{10};

using Token = std::optional<mirrors::AnonymousToken>;

upstream::FetchPlan plan_for(const SourceAccess& access, const policy::Policy& policy,
                             const http::Target& url) {
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
  return {.to = origin_of(url, policy.lists),
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

// Nothing: the body is longer than a token's. However slowly it comes, it ends by then.
Task<Outcome<std::optional<std::string>>> read_body(SourceAccess& access, upstream::Fetch& fetch,
                                                    peers::SteadyTime end) {
  const net::PooledBuffer buffer(access.upstream.buffers);
  std::string body;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - access.now());
    if (left <= left.zero()) co_return kTimedOut;
    const auto read = co_await fetch.body(buffer.all(), left);
    if (!read) co_return read.error();
    if (*read == 0) break;
    if (body.size() + *read > mirrors::AnonymousToken::kMostBytes) {
      co_return std::optional<std::string>();
    }
    body.append(buffer.data(), *read);
  }
  fetch.finish();
  co_return std::optional(std::move(body));
}

// Nothing: the server gives none.
Task<Outcome<Token>> ask_for_token(SourceAccess& access, const policy::Policy& policy,
                                   const http::Target& url) {
  const auto end = access.now() + policy.settings.timeouts.first_byte;
  upstream::Fetch fetch(access.upstream, plan_for(access, policy, url));
  const auto started = co_await fetch.start();
  if (!started) co_return started.error();
  unsigned status = 0;
  for (int heads = 0; status < 200; ++heads) {
    const auto head = co_await fetch.response();
    if (!head) co_return head.error();
    if (heads == 8) co_return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
    status = (*head)->status;
  }
  // The registry has nothing against us; this server has no time.
  if (status == 429 || status >= 500)
    co_return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
  if (status != 200) co_return Token();
  auto body = co_await read_body(access, fetch, end);
  if (!body) co_return body.error();
  if (!*body) co_return Token();
  co_return mirrors::AnonymousToken::parse(**body);
}

}  // namespace

std::string token_question(const http::Target& url, std::string_view name) {
  return std::string("token ").append(url.authority()).append("/").append(name);
}

Task<Outcome<std::string>> anonymous_token(SourceAccess& access, const policy::Policy& policy,
                                           const TokenWanted& wanted) {
  const auto url = mirrors::token_url(wanted.challenge, wanted.name);
  if (!url || !may_ask(policy, *url, wanted.url)) co_return std::string();
  auto& known_answers = access.shared.known_answers;
  const auto question = token_question(wanted.url, wanted.name);
  const auto end = access.now() + policy.settings.timeouts.first_byte;
  net::Wakeup wakeup(access.executor);
  const net::WaitList::Waiting waiting(known_answers.line(), wakeup);
  upstream::KnownAnswers::Asking asking(known_answers, question);
  for (;;) {
    const auto known = known_answers.find(question, access.now());
    // Another one may have asked since this one's was refused.
    if (known && (known->text.empty() || known->text != wanted.sent)) co_return known->text;
    if (asking.begin()) break;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - access.now());
    if (left <= left.zero()) co_return kTimedOut;
    co_await wakeup.wait(left);
  }
  const auto asked = access.now();
  auto asks = ask_for_token(access, policy, *url);
  auto token = co_await asks;
  if (!token) co_return token.error();
  const auto lasts = *token ? std::max((*token)->lasts - kMargin, kMargin) : kDenied;
  auto text = *token ? std::move((*token)->text) : std::string();
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
