#include "proxy/answer/pass.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "proxy/answer/passed_request.hpp"
#include "proxy/answer/tunnel.hpp"
#include "proxy/blocks/content_record.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/cache/other_methods.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/text.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy::answer {

using net::Task;
using SteadyTime = machine::Clock::SteadyTime;
namespace asio = net::asio;

namespace {

// After so many buffers, other coroutines of the thread get their turn.
constexpr std::uint64_t kBuffersAtATime = 64;

digest::Key key_of_get(std::string_view name) {
  return digest::key_of(digest::Method::get, name);
}

// The stale entry, if it may stand in for an origin that failed. `answered`: the status of the
// origin's answer, or the failure to get one.
std::optional<fill::FillHead> stand_in(const client::Client& client, const policy::Request& request,
                                       std::string_view host, cache::Ref<const cache::Entry> stale,
                                       const upstream::Outcome<unsigned>& answered) {
  const auto& access = client.access;
  if (!stale || (answered && !cache::is_error_to_stand_in_for(*answered))) return std::nullopt;
  const auto leave = answered ? request.policy().leave_after_error_of(request.target)
                              : request.policy().leave_after(answered.error());
  if (!cache::may_stand_in(request.facts, *stale, access.clock().now(), leave)) return std::nullopt;
  fill::Provenance from;
  from.host = host;
  from.stood_in = leave;
  from.inquiries.detail = "stale-if-error/";
  if (answered) {
    from.fwd_status = *answered;
    from.inquiries.detail += std::to_string(*answered);
  } else {
    from.inquiries.detail += upstream::word(answered.error().what);
  }
  const auto length = stale->body.size;
  return fill::FillHead{std::move(stale), length, false, {}, std::move(from)};
}

// Drops the stored responses that the answer to an unsafe method invalidates (RFC 9111 4.4).
// Returns when they are gone for good, on disk too.
Task<void> invalidate(const client::ServeAccess& access, const policy::Request& request,
                      const http::ResponseHead& answer) {
  for (const auto& target : cache::invalidated_by(request.head.method, request.target, answer)) {
    const auto name = request.stored_as(target);
    co_await access.fetching.cached().forget(key_of_get(name), name);
  }
}

// What an entry for GET is made of, from the answer to another method.
cache::Received received_as_get(const client::ServeAccess& access, const policy::Request& request,
                                const http::ResponseHead& answer, const cache::Times& times) {
  return {.url = request.stored_as(),
          .request = request.head.fields,
          .response = answer,
          .times = times,
          .our_name = access.name(),
          .shared = request.may_be_shared(),
          .targets = sources::targets_for(request, request.policy().settings.cache),
          .bounds = request.facts.freshness,
          .rule = request.facts.rule,
          .by_rule_alone = request.facts.has_credentials};
}

// The answer to HEAD updates or drops the response that is stored for GET (RFC 9111 4.3.5).
// `since`: the time when the HEAD was sent. If the URL was invalidated after it, changes nothing.
void apply_head(const client::ServeAccess& access, const policy::Request& request,
                const http::ResponseHead& answer, const cache::Times& times, SteadyTime since) {
  const auto& url = request.stored_as();
  const auto key = key_of_get(url);
  const auto stored = access.cache().in_memory(key, url, request.head.fields).entry;
  const auto says =
      stored ? cache::head_says(request.facts, answer, *stored) : cache::HeadSays::nothing;
  if (says == cache::HeadSays::changed) access.cache().drop(key, url);
  if (says != cache::HeadSays::unchanged || access.cache().fills.outdated(key, url, since)) return;
  if (stored->giver().guest) return;  // a HEAD confirms no body, so the guest's freshness stays
  auto received = received_as_get(access, request, answer, times);
  received.giver = stored->giver();
  const auto updated =
      cache::freshen(access.cache().budget, *stored, cache::as_get(request.facts), received);
  if (updated.storability == cache::Storability::yes) {
    const bool kept = access.cache().store(key, updated.entry, since, {stored});
    if (kept) blocks::renew_record(access.fetching, *stored, *updated.entry, request);
  } else if (updated.storability != cache::Storability::vary_too_long) {
    access.cache().drop(key, url);
  }
}

// Captures the answer to a POST while it is passed on, to store it as the answer to a GET of its
// URL (RFC 9110 9.3.3).
class PostCapture {
 public:
  // The answer may be stored (may_store_posted). Construct it after the POST has invalidated stored
  // responses: any later invalidation of the URL keeps the answer from being stored.
  PostCapture(const client::ServeAccess& access, const policy::Request& request,
              const cache::Received& received)
      : access_(access),
        key_(key_of_get(request.stored_as())),
        entry_(cache::Entry::make(access.cache().budget, received)) {}

  // How long the answer stays fresh, for Cache-Status. Call it before append().
  [[nodiscard]] cache::seconds ttl() const { return entry_->ttl(access_.clock().now()); }

  // Copies the next bytes of the body. If the body is too large to be stored, or memory is short,
  // gives up the capture.
  void append(std::span<const char> bytes) {
    if (!entry_) return;
    const bool fits = entry_->body.size + bytes.size() <= access_.cache().most_in_memory();
    if (!fits || !access_.cache().make_room()) {
      storability_ = fits ? cache::Storability::no_room : cache::Storability::too_large;
      entry_.reset();
      return;
    }
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const auto block = cache::Block::make(access_.cache().budget, size);
    std::copy(bytes.begin(), bytes.end(), block->data());
    entry_->body.slices.push_back({block, size});
    entry_->body.size += size;
  }
  // Stores the answer, whose body is whole now, unless the capture was given up or the URL was
  // invalidated meanwhile.
  void store() {
    if (!entry_) return;
    const auto entry = std::exchange(entry_, nullptr);
    const bool is_kept = access_.cache().store(key_, entry, begun_);
    storability_ =
        is_kept ? cache::Storability::yes : access_.cache().why_not_kept(key_, *entry, begun_);
  }
  // Call this at the end: `yes` if the answer was stored.
  [[nodiscard]] cache::Storability storability() const { return storability_; }

 private:
  const client::ServeAccess& access_;
  const digest::Key key_;
  const SteadyTime begun_ = access_.clock().steady();
  cache::Ref<cache::Entry> entry_;  // null: given up, or stored
  cache::Storability storability_ = cache::Storability::incomplete;
};

// Whether the answer to a POST may be stored for GET: the URL was not invalidated since the POST
// was sent, and no digest names the body, which nobody verifies here.
bool may_capture(const client::ServeAccess& access, const policy::Request& request,
                 const http::ResponseHead& answer, SteadyTime since) {
  const bool is_post = request.head.method == "POST";
  if (!is_post || policy::digest_of(answer.fields, request)) return false;
  const auto& name = request.stored_as();
  return !access.cache().fills.outdated(key_of_get(name), name, since);
}

void write_status(client::Client& client, const policy::Request& request, PassedRequest& passed,
                  http::Forward reason, const PostCapture* capture) {
  auto& status = client.record.told;
  status.clear();
  status.fwd = reason;
  status.fwd_status = passed.head().status;
  status.stored = capture != nullptr;
  if (const auto* const parent = passed.fetch().server().parent())
    status.detail = "parent/" + parent->name;
  if (capture) status.ttl = capture->ttl();
  reply::add_cache_status(client, request);
}

std::optional<std::uint64_t> length_of(PassedRequest& passed, const policy::Request& request) {
  const auto& framing = passed.fetch().framing();
  if (framing.kind == http::Framing::Kind::sized) return framing.length;
  if (framing.kind != http::Framing::Kind::none) return std::nullopt;
  // To HEAD, the length that the GET would have.
  if (!request.is_head()) return 0;
  return http::parse_decimal(passed.head().fields.value(http::field::content_length));
}

// Returns whether the whole body was received and sent.
Task<bool> relay_body(client::Client& client, const policy::Request& request,
                      upstream::Fetch& fetch, const net::PooledBuffer& buffer,
                      PostCapture* capture) {
  auto& access = client.access;
  const auto from =
      fetch.server().parent() ? observe::Hierarchy::parent : observe::Hierarchy::direct;
  auto& received = access.counters().upstream_bytes[static_cast<std::size_t>(from)];
  const auto idle = request.policy().settings.timeouts.body;
  std::uint64_t turn = 0;
  while (!fetch.body_finished()) {
    const auto read = co_await fetch.body(buffer.all(), idle);
    if (!read) co_return false;
    received.add(*read);
    if (capture) capture->append({buffer.data(), *read});
    // Before the client gets the last byte, because its next request may ask for this response.
    if (capture && fetch.body_finished()) capture->store();
    const auto error = co_await client.response.body(asio::const_buffer(buffer.data(), *read));
    if (error) co_return false;
    if (++turn % kBuffersAtATime == 0) co_await asio::post(access.executor(), net::use_task);
  }
  if (capture) capture->store();
  co_return true;
}

// Sends the final answer that `passed` has received at `times`. `capture` (or null) gets a copy of
// the body, and stores it once it is whole. If the origin cuts the answer, aborts the client's,
// too.
Task<void> relay(client::Client& client, const policy::Request& request, PassedRequest& passed,
                 const cache::Times& times, PostCapture* capture) {
  auto& response = client.response;
  auto& fetch = passed.fetch();
  const auto& head = passed.head();
  // The time that the client took to send its body does not age the answer.
  const cache::Times answered{times.response, times.response};
  const auto text = reply::passed_head(client.access, head, answered);
  reply::record_content_type(client, head.fields.value(http::field::content_type));
  if (!passed.sent_whole()) response.close_after();

  const auto error = co_await response.start(text, head.status, length_of(passed, request));
  if (error) co_return response.abort();
  const bool whole = co_await relay_body(client, request, fetch, passed.buffer(), capture);
  if (!whole) co_return response.abort();
  // A connection on which a request was cut cannot carry another one.
  if (passed.sent_whole()) fetch.finish();
  co_await response.finish();
}

}  // namespace

Task<void> pass(client::Client& client, const policy::Request& request, client::RequestBody& body,
                http::Forward reason, cache::Ref<const cache::Entry> stale) {
  auto& access = client.access;
  auto& record = client.record;
  record.tag = reason == http::Forward::request ? observe::Tag::client_refresh : observe::Tag::miss;
  record.hierarchy = observe::Hierarchy::direct;
  const auto begun = access.clock().steady();
  cache::Times times{access.clock().now(), {}};
  PassedRequest passed(client, request, body);
  const client::ResponseState::WaitsFor waits(client.state,
                                              [&passed] { passed.fetch().abandon(); });
  const auto asked = co_await passed.ask();
  const auto& server = passed.fetch().server();
  record.upstream_host = server.to().host;
  if (server.parent()) record.hierarchy = observe::Hierarchy::parent;
  times.response = access.clock().now();
  times.ahead = access.clock().ahead();

  const auto answered = asked ? upstream::Outcome<unsigned>(passed.head().status) : asked.error();
  const auto stored = stand_in(client, request, server.to().host, std::move(stale), answered);
  if (stored) {
    co_await reply::serve_filled(client, request, {*stored, reason});
    co_return;
  }
  if (!asked) co_return co_await reply::refuse(client, request, asked.error(), reason);
  record.storability = cache::storability_for(request.facts);
  if (passed.head().status == 101) {
    co_return co_await become_websocket(client, passed.fetch(), reason);
  }
  // Before invalidate(), which would itself count as an invalidation.
  const bool captured = may_capture(access, request, passed.head(), begun);
  co_await invalidate(access, request, passed.head());
  // What a redirect leads to now says nothing of how long it leads there.
  const bool tells = request.is_head() && !passed.was_redirected();
  if (tells) apply_head(access, request, passed.head(), times, begun);
  std::optional<PostCapture> capture;
  if (captured) {
    const auto received = received_as_get(access, request, passed.head(), times);
    record.storability = cache::may_store_posted({request.head, request.facts, request.target},
                                                 passed.head(), times, received.targets);
    if (record.storability == cache::Storability::yes) capture.emplace(access, request, received);
  }
  auto* const copy = capture ? &*capture : nullptr;
  write_status(client, request, passed, reason, copy);
  co_await relay(client, request, passed, times, copy);
  if (capture) record.storability = capture->storability();
  access.counters().count(record.storability);
}

}  // namespace proxy::answer
