#include "tests/scenario/model/rules_subject.hpp"

#include "proxy/cache/other_methods.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/validators.hpp"

namespace model {

namespace cache = proxy::cache;
namespace http = proxy::http;
using cache::Action;

namespace {

constexpr Seconds kStart = 1'700'000'000;
constexpr std::chrono::seconds kReach{3600};

cache::Time point(Seconds time) {
  return cache::Time(std::chrono::seconds(time));
}

std::string url_text(int url) {
  return "http://origin.example" + path_of(url);
}

std::string field_lines(const Fields& fields) {
  std::string text;
  for (const Field& line : fields) text += line.name + ": " + line.value + "\r\n";
  return text;
}

digest::Key key_of(const std::string& url) {
  return digest::key_of(digest::Method::get, url);
}

// A response in the form that the rules take.
struct Head {
  explicit Head(const Exchange& exchange)
      : text("HTTP/1.1 " + std::to_string(exchange.got.status) + " X\r\n" +
             field_lines(exchange.got.fields) + "\r\n"),
        head(http::parse_response_head(text).value()),
        times{point(exchange.asked), point(exchange.answered)} {}

  std::string text;
  http::ResponseHead head;
  cache::Times times;
};

cache::Body body_of(cache::Budget& budget, const std::string& text) {
  if (text.empty()) return {};
  const auto size = static_cast<std::uint32_t>(text.size());
  const auto block = cache::Block::make(budget, size);
  std::copy(text.begin(), text.end(), block->data());
  return {{{block, size}}, size};
}

std::string text_of(const cache::Body& body) {
  std::string text;
  for (const auto& slice : body.slices) text.append(slice.block->data(), slice.size);
  return text;
}

Fields fields_of(std::string head) {
  head += "\r\n";
  Fields fields;
  const auto parsed = http::parse_response_head(head).value();
  for (const auto& line : parsed.fields) {
    fields.push_back({std::string(line.name), std::string(line.value)});
  }
  return fields;
}

}  // namespace

struct RulesSubject::Asked {
  explicit Asked(const Ask& asked)
      : ask(asked),
        url(url_text(asked.url)),
        text(asked.method + " " + url + " HTTP/1.1\r\nHost: origin.example\r\n" +
             field_lines(asked.fields) + "\r\n"),
        head(http::parse_request_head(text).value()),
        target(http::parse_target(head.method, head.target, "origin.example").value()),
        facts(head) {}
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  cache::Received received(const Head& got) const {
    return {url, head.fields, got.head, got.times, "us"};
  }

  const Ask ask;
  const std::string url;
  const std::string text;
  const http::RequestHead head;
  const http::Target target;
  const cache::RequestFacts facts;
};

RulesSubject::RulesSubject() : budget_(1 << 24) {
  begin();
}

RulesSubject::~RulesSubject() = default;

Seconds RulesSubject::begin() {
  now_ = begun_ = kStart;
  store_ = std::make_unique<cache::Store>(budget_);
  return begun_;
}

cache::Time RulesSubject::now() const {
  return point(now_);
}

Told RulesSubject::ask(const Ask& ask, const Reaction& reaction, Seconds pause, int number) {
  now_ += pause;
  reaction_ = &reaction;
  number_ = number;
  told_ = Told{};
  told_.begun = told_.answered = now_;
  const Asked asked(ask);
  const auto found = store_->find(key_of(asked.url), asked.url, asked.head.fields);
  const auto verdict = cache::judge(asked.facts, found, now());
  switch (verdict.action) {
    case Action::serve:
      serve(asked, *found.entry);
      break;
    case Action::refresh:
      told_.answered_first = true;
      serve(asked, *found.entry);
      if (!asked.facts.authorization) refresh(ask, found.entry);
      break;
    case Action::refuse:
      told_.response.status = 504;
      break;
    case Action::pass:
      pass(asked, verdict.reason == http::Forward::stale ? found.entry : nullptr);
      break;
    case Action::fetch:
    case Action::revalidate:
    case Action::complete:  // no part is ever held
      fill(asked, found.entry, verdict, false);
      break;
  }
  return told_;
}

void RulesSubject::refresh(Ask ask, const Held& stale) {
  ask.method = "GET";
  fill(Asked(ask), stale, {Action::revalidate, http::Forward::stale}, true);
}

Exchange RulesSubject::exchange(const Ask& sent) {
  Exchange exchange{sent, {}, now_, now_};
  now_ += reaction_->delay;
  if (!told_.answered_first) told_.answered = now_;
  exchange.answered = now_;
  exchange.got = react(*reaction_, sent, number_++, now_, begun_);
  told_.exchanges.push_back(exchange);
  return exchange;
}

// A part is served from a stored response only.
void RulesSubject::serve(const Asked& asked, const cache::Entry& entry, bool held) {
  Answer& response = told_.response;
  told_.answered = now_;
  response = {static_cast<int>(entry.status), fields_of(std::string(entry.head())),
              text_of(entry.body), false};
  response.fields.push_back({"Age", std::to_string(entry.age(now()).count())});
  const auto whole = std::chrono::floor<std::chrono::seconds>(now());
  if (entry.status == 200 && http::not_modified(asked.head.fields, entry.validators(), whole)) {
    response.status = 304;
    response.body.clear();
  } else if (asked.facts.range && held) {
    const auto wanted = cache::parts_wanted(asked.facts, entry);
    if (wanted.kind == http::Selection::Kind::none) response = {416, {}, "", false};
    if (wanted.kind == http::Selection::Kind::parts) {
      response.status = 206;
      response.body = response.body.substr(wanted.parts[0].first, wanted.parts[0].size());
    }
  }
  if (asked.ask.method == "HEAD") response.body.clear();
}

void RulesSubject::fill(const Asked& asked, const Held& stale, const cache::Verdict& how,
                        bool refresh) {
  Ask sent = asked.ask;
  for (const auto* name : {"If-None-Match", "If-Modified-Since"}) remove(sent.fields, name);
  if (!how.part) {
    for (const auto* name : {"If-Range", "Range"}) remove(sent.fields, name);
  }
  const bool asks = how.action == Action::revalidate && stale->has_validator();
  const Ask plain = sent;
  std::string tags = stale ? std::string(stale->quotes().etag) : "";
  if (stale && !refresh) tags = http::joined_tags(stale->quotes().etag, asked.head.fields);
  if (asks) {
    for (const auto& line : cache::conditional_fields(*stale, tags)) {
      sent.fields.push_back({std::string(line.name), std::string(line.value)});
    }
  }
  Exchange got = exchange(sent);
  if (got.got.status == 304 && asks) {
    const bool alone = tags == stale->quotes().etag;
    if (take_unmodified(asked, got, stale, alone, refresh)) return;
    if (!alone && hand_on_unmodified(asked, got)) return;
    got = exchange(plain);
  }
  if (!refresh && stand_in(asked, got, stale)) return;
  if (refresh && cache::is_error_to_stand_in_for(static_cast<unsigned>(got.got.status))) return;
  const bool unasked = got.got.status == 304 || (got.got.status == 206 && !how.part);
  if (got.got.cut || unasked) {
    if (!refresh) told_.response.status = 502;
    return;
  }
  take_whole(asked, got, stale, refresh);
}

// The client has a response that the cache does not.
bool RulesSubject::hand_on_unmodified(const Asked& asked, const Exchange& got) {
  const Head head(got);
  const auto etag = head.head.fields.value(http::field::etag);
  if (!http::not_modified(asked.head.fields, {etag, {}}, {})) return false;
  told_.response = got.got;
  told_.answered = now_;
  return true;
}

bool RulesSubject::take_unmodified(const Asked& asked, const Exchange& got, const Held& stale,
                                   bool alone, bool refresh) {
  const Head head(got);
  if (!cache::identifies(*stale, head.head, alone ? "" : "\"another\"")) return false;
  const auto fresh = cache::freshen(budget_, *stale, asked.facts, asked.received(head));
  const bool keep = fresh.storability == cache::Storability::yes;
  if (!keep && !asked.facts.authorization) invalidate(asked.ask.url);
  if (keep) store_->put(key_of(asked.url), {fresh.entry}, now(), stale.get());
  if (!refresh) serve(asked, *fresh.entry);
  return true;
}

void RulesSubject::take_whole(const Asked& asked, const Exchange& got, const Held& stale,
                              bool refresh) {
  const Head head(got);
  const auto may_store = cache::may_store(asked.facts, head.head, head.times);
  const auto entry = cache::Entry::make(budget_, asked.received(head));
  entry->body = body_of(budget_, got.got.body);
  const auto status = got.got.status;
  const bool state = status < 400 || status == 404 || status == 410;
  if (may_store == cache::Storability::yes) {
    store_->put(key_of(asked.url), {entry}, now(), stale.get());
  } else if (stale && state && may_store != cache::Storability::private_ &&
             !asked.facts.authorization) {
    invalidate(asked.ask.url);
  }
  if (!refresh) serve(asked, *entry, false);
}

bool RulesSubject::stand_in(const Asked& asked, const Exchange& got, const Held& stale) {
  const bool error =
      got.got.cut || cache::is_error_to_stand_in_for(static_cast<unsigned>(got.got.status));
  const auto leave = got.got.cut ? kReach : std::chrono::seconds(0);
  if (!stale || !error || !cache::may_stand_in(asked.facts, *stale, now(), leave)) return false;
  serve(asked, *stale);
  return true;
}

void RulesSubject::pass(const Asked& asked, const Held& stale) {
  const Exchange got = exchange(asked.ask);
  if (stand_in(asked, got, stale)) return;
  told_.response = got.got;
  told_.answered = now_;
  if (got.got.cut) {
    told_.response = {502, {}, "", false};
    return;
  }
  const Head head(got);
  for (const auto& target : cache::invalidated_by(asked.ask.method, asked.target, head.head)) {
    store_->invalidate(key_of(target.url()), target.url());
  }
  if (asked.ask.method == "HEAD") apply_head(asked, got);
  if (asked.ask.method == "POST") keep_posted(asked, got);
}

void RulesSubject::apply_head(const Asked& asked, const Exchange& got) {
  const Head head(got);
  const auto held = store_->find(key_of(asked.url), asked.url, asked.head.fields).entry;
  if (!held) return;
  const auto says = cache::head_says(asked.facts, head.head, *held);
  if (says == cache::HeadSays::changed) invalidate(asked.ask.url);
  if (says != cache::HeadSays::unchanged) return;
  const auto fresh =
      cache::freshen(budget_, *held, cache::as_get(asked.facts), asked.received(head));
  if (fresh.storability == cache::Storability::yes) {
    store_->put(key_of(asked.url), {fresh.entry}, now(), held.get());
  } else {
    invalidate(asked.ask.url);
  }
}

void RulesSubject::keep_posted(const Asked& asked, const Exchange& got) {
  const Head head(got);
  const auto may_store =
      cache::may_store_posted({asked.head, asked.facts, asked.target}, head.head, head.times, {});
  if (may_store != cache::Storability::yes) return;
  const auto entry = cache::Entry::make(budget_, asked.received(head));
  entry->body = body_of(budget_, got.got.body);
  store_->put(key_of(asked.url), {entry}, now());
}

void RulesSubject::invalidate(int url) {
  store_->invalidate(key_of(url_text(url)), url_text(url));
}

}  // namespace model
