#include "proxy/sources/follow.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cache/combine.hpp"
#include "proxy/http/secrets.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/registry_token.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy::sources {
namespace {

using std::chrono::seconds;
using upstream::Failure;

bool follows_redirects(const policy::Request& request) {
  const auto& hosts = request.policy().mirrored_hosts;
  if (hosts.empty() || request.mapping()) return false;  // mostly
  const bool is_plain = request.facts.method != cache::RequestFacts::Method::other &&
                        !request.framing.has_body() && !request.asks_for_websocket();
  const bool is_https =
      request.target.form() == http::Target::Form::absolute && request.target.https();
  const bool is_mirrored = request.terms().mirrored == mirrors::Mirrored::yes;
  return is_plain && (is_https || is_mirrored) && hosts.have(request.target);
}

seconds age_of(const http::ResponseHead& answer, const cache::Times& times) {
  return std::chrono::floor<seconds>(cache::initial_age(answer.fields, times));
}

bool hides_denied(const policy::Request& request) {
  const bool shows = request.facts.has_credentials || http::shows_secret(request.head.fields);
  return !shows && request.rule() && request.rule()->hides_denied();
}

}  // namespace

bool is_absent_for(const policy::Request& request, unsigned status) {
  return (status == 401 || status == 403) && hides_denied(request);
}

http::ResponseHead absent_head(const http::ResponseHead& refusal) {
  http::ResponseHead head = refusal;
  head.status = 404;
  head.reason = "Not Found";
  http::Fields others;
  for (const auto& line : refusal.fields) {
    if (line.id != http::field::www_authenticate) others.append(line);
  }
  head.fields = std::move(others);
  return head;
}

std::unique_ptr<Follow> Follow::of(const SourceAccess& access, const policy::Request& request,
                                   std::string& head) {
  if (!follows_redirects(request)) return nullptr;
  return std::unique_ptr<Follow>(new Follow(access, request, head));
}

Follow::Follow(const SourceAccess& access, const policy::Request& request, std::string& head)
    : policy_(request.pinned()),
      targets_(targets_for(request, policy_->settings.cache)),
      audience_(audience_of(request)),
      redirects_(request.target) {
  const auto& url = request.target;
  const bool may_want =
      policy_->rules.registries().any() && url.https() && !audience_.shows_credentials;
  auto image = may_want ? mirrors::ImagePart::parse(url.path()) : std::nullopt;
  if (image) {
    audience_.hides_denied = true;
    anonymous_.emplace(Anonymous{std::move(*image)});
    if (anonymous_->image.names_body()) {
      linked_ = mirrors::LinkedFile::named(anonymous_->image.reference);
      head = mirrors::without_conditions(head, linked_->etag());
    }
    const auto question = token_question(url, anonymous_->image.name);
    const auto known = access.shared.servers.tokens.find(question, access.now());
    if (known && !known->has_failed()) anonymous_->token = known->text;
    if (!anonymous_->token.empty()) head = authorized_head(head, anonymous_->token);
  }
  // An index has several forms, whether its server says so or not.
  const auto* const rule = request.rule();
  if (rule && !rule->text().links.empty()) said_.vary = "Accept";
  asked_ = head;
}

Follow::Audience Follow::audience_of(const policy::Request& request) {
  const auto& facts = request.facts;
  const bool shows = facts.has_credentials || http::shows_secret(request.head.fields);
  return {.shows_credentials = shows,
          .by_class = facts.freshness.by_class,
          .stores_cookies = facts.store_cookies,
          .hides_denied = hides_denied(request)};
}

net::Task<upstream::Outcome<bool>> Follow::go_on(SourceAccess& access,
                                                 std::unique_ptr<upstream::Fetch>& fetch,
                                                 SteadyTime begun) {
  const auto& on = access.upstream;
  const auto now = on.clock.now();
  const cache::Times times{now - (on.clock.steady() - begun), now, on.clock.ahead()};
  bool asks_on = follows(fetch->head(), times);
  if (!asks_on && !head_) {
    auto gets = gets_token(access, fetch);
    const auto got = co_await gets;
    if (!got) co_return got.error();
    asks_on = *got;
  }
  if (!asks_on) {
    if (const auto of_file = std::exchange(head_, std::nullopt)) {
      fetch->whole_body();  // the redirect's
      finish(*of_file, times);
    } else if (redirects_.any()) {
      finish(fetch->head(), times);
    } else if (linked_ || !said_.vary.empty()) {
      add_vary(fetch->head());
      write_anew(fetch->head());
    }
    if (!is_hidden(fetch->head())) co_return false;
    if (anonymous_)
      co_return upstream::failure_of(Failure::Where::upstream, upstream::Errc::needs_credentials);
    head_ = absent_head(head_ ? *head_ : fetch->head());
    co_return false;
  }
  if (fetch->is_abandoned()) co_return Failure{Failure::Where::us, Failure::What::abandoned, {}};
  auto next = plan();
  const auto took = on.clock.steady() - begun;
  const auto left = next.first_byte - std::chrono::duration_cast<std::chrono::milliseconds>(took);
  if (left <= left.zero())
    co_return Failure{Failure::Where::upstream, Failure::What::timed_out, {}};
  next.first_byte = left;
  next.connect = std::min(next.connect, left);
  // A short body, mostly here: the connection is then for the next question. Nobody waits for it.
  fetch->whole_body();
  fetch->finish();
  fetch = std::make_unique<upstream::Fetch>(on, std::move(next));
  const auto started = co_await fetch->start();
  if (!started) co_return started.error();
  co_return true;
}

bool Follow::follows(const http::ResponseHead& answer, const cache::Times& times) {
  const auto from = redirects_.last();
  const auto redirect = redirects_.judge(answer, [this](const http::Target& to) {
    const bool may_lead =
        policy_->mirrored_hosts.have(to) || policy_->rules.may_follow(redirects_.first(), to);
    return may_lead && !policy_->lists.blocks(to);
  });
  if (redirect != mirrors::Redirect::followed) return false;
  record(answer, times);
  // Only the first server speaks for its file.
  auto told = http::same_origin(from, redirects_.first())
                  ? mirrors::LinkedFile::told_by(answer.fields)
                  : std::nullopt;
  if (told) linked_ = std::move(told);
  if (linked_) {
    const auto method = std::string_view(asked_).substr(0, asked_.find(' '));
    head_ = linked_->answer(answer, method, mirrors::value_of_field(asked_, "If-None-Match"));
    if (head_) return false;
    // The storage has other tags and times, and would answer with another version's whole body.
    asked_ = mirrors::without_conditions(asked_, linked_->etag());
  }
  asked_ = mirrors::redirected_head(asked_, from, redirects_.last());
  if (!http::same_origin(from, redirects_.last())) audience_.shows_credentials = false;
  return true;
}

// A redirect without a word of its own holds for this request alone (RFC 9110 15.4), though the
// answer may be unchanged.
void Follow::record(const http::ResponseHead& redirect, const cache::Times& times) {
  // What is for this cache alone, and what clients and neighbours would go by.
  for (const auto targets : {targets_, http::Targets()}) {
    const auto control = http::response_cache_control(redirect.fields, targets);
    // It may lead to a signed URL that only this user may have.
    // The class of a response says that it is for everybody; nobody's credentials are sent then.
    const bool is_of_one = control.private_ || (audience_.shows_credentials && !control.public_);
    const bool sets_cookie = redirect.fields.has(http::field::set_cookie) &&
                             !audience_.stores_cookies && !cache::may_store_cookie({}, control);
    const bool is_for_one = !audience_.by_class && (is_of_one || sets_cookie);
    if (is_for_one || control.no_store) said_.may_be_kept = false;
    const auto lifetime = control.no_cache || control.private_
                              ? seconds(0)
                              : cache::freshness_of(redirect, control, times.arrived()).lifetime;
    until_ = std::min(until_, times.response + (lifetime - age_of(redirect, times)));
  }
  http::Members names(redirect.fields, http::field::vary);
  while (const auto name = names.next()) {
    (said_.vary += said_.vary.empty() ? "" : ", ") += *name;
  }
}

void Follow::finish(const http::ResponseHead& answer, const cache::Times& times) {
  const auto& first = redirects_.first();
  const auto& last = redirects_.last();
  // A browser that asks for the http URL through this proxy would take it for the first host's.
  if (!first.https() && first.host() != last.host()) said_.may_be_kept = false;
  const auto left = std::max(std::chrono::floor<seconds>(until_ - times.response), seconds(0));
  said_.lasts = left + age_of(answer, times);
  const auto control = http::response_cache_control(answer.fields, targets_);
  const auto lifetime = cache::freshness_of(answer, control, times.arrived()).lifetime;
  anew_.targeted = targets_;
  anew_.control = mirrors::bounding_control(control, lifetime, said_);
  // The stored response has the bounds of other redirects.
  const bool leaves_old = answer.status == 304 && !answer.fields.has(http::field::cache_control);
  if (leaves_old && anew_.control.empty()) anew_.control = "max-age=0, must-revalidate";
  add_vary(answer);
  if (const auto* const to = answer.fields.find(http::field::location)) {
    const auto url = http::resolve(last, to->value);  // it may be relative to the last URL
    if (url) anew_.location = url->url();
  }
  write_anew(answer);
}

// A 304 without Vary leaves that of the stored response, which has these names already.
void Follow::add_vary(const http::ResponseHead& answer) {
  const bool has_vary = answer.status != 304 || answer.fields.has(http::field::vary);
  if (has_vary) anew_.vary = said_.vary;
}

void Follow::write_anew(const http::ResponseHead& answer) {
  const bool has_bytes = answer.status == 200 || answer.status == 206;
  if (linked_ && has_bytes && !cache::is_coded(answer.fields)) anew_.linked = &*linked_;
  head_ = answer;
  head_->fields = mirrors::fields_for_first(answer.fields, redirects_, anew_);
}

// Only for the first URL: a storage that wants to know more has another reason.
net::Task<upstream::Outcome<bool>> Follow::gets_token(SourceAccess& access,
                                                      std::unique_ptr<upstream::Fetch>& fetch) {
  const auto& answer = fetch->head();
  const bool may_help =
      anonymous_ && answer.status == 401 && !redirects_.any() && !anonymous_->is_new;
  if (!may_help) co_return false;
  auto challenge = mirrors::BearerChallenge::parse(answer.fields);
  if (!challenge) co_return false;
  const TokenWanted wanted{redirects_.first(), anonymous_->image.name, anonymous_->token,
                           std::move(*challenge)};
  auto asks = anonymous_token(access, *policy_, wanted);
  auto got = co_await asks;
  if (!got) co_return got.error();
  if (got->empty()) co_return false;
  anonymous_->is_new = true;
  anonymous_->token = std::move(*got);
  asked_ = authorized_head(asked_, anonymous_->token);
  co_return true;
}

bool Follow::is_hidden(const http::ResponseHead& answer) const {
  const bool is_denied = answer.status == 401 || (answer.status == 403 && !redirects_.any());
  return audience_.hides_denied && is_denied;
}

upstream::FetchPlan Follow::plan() const {
  const auto& to = redirects_.last();
  const auto& timeouts = policy_->settings.timeouts;
  return {.to = origin_of(to, policy_->lists),
          .route = policy_->routes.find(to),
          .asked = redirects_.any() ? upstream::FetchPlan::Asked::redirected
                                    : upstream::FetchPlan::Asked::origin,
          .head = asked_,
          .method = asked_.substr(0, asked_.find(' ')),
          .connect = timeouts.connect,
          .first_byte = timeouts.first_byte};
}

}  // namespace proxy::sources
