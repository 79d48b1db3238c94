#include "proxy/answer/pass.hpp"

#include "proxy/answer/cache_effects.hpp"
#include "proxy/answer/passed_request.hpp"
#include "proxy/answer/relay.hpp"
#include "proxy/answer/websocket.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

// The stale entry, if it may stand in for an origin that failed. `answered`: the status of the
// origin's answer, or the failure to get one.
std::optional<FillHead> stand_in(const Client& client, const Request& request,
                                 std::string_view host, cache::Ref<const cache::Entry> stale,
                                 const Outcome<unsigned>& answered) {
  const auto& access = client.access;
  if (!stale || (answered && !cache::is_error_to_stand_in_for(*answered))) return std::nullopt;
  const auto leave =
      answered ? std::chrono::seconds(0) : request.policy().leave_after(answered.error());
  if (!cache::may_stand_in(request.facts, *stale, access.clock().now(), leave)) return std::nullopt;
  Provenance from;
  from.host = host;
  from.stood_in = leave;
  from.inquiries.detail = "stale-if-error/";
  if (answered) {
    from.fwd_status = *answered;
    from.inquiries.detail += std::to_string(*answered);
  } else {
    from.inquiries.detail += word(answered.error().what);
  }
  const auto length = stale->body.size;
  return FillHead{std::move(stale), length, false, {}, std::move(from)};
}

// Whether the answer to a POST may be stored for GET: the URL was not invalidated since the POST
// was sent.
bool may_capture(const ServeAccess& access, const Request& request,
                 steady_clock::time_point since) {
  if (request.head.method != "POST") return false;
  const auto& name = request.stored_as();
  return !access.cache().fills.outdated(digest::key_of(digest::Method::get, name), name, since);
}

}  // namespace

Task<void> pass(Client& client, const Request& request, RequestBody& body, http::Forward reason,
                cache::Ref<const cache::Entry> stale) {
  auto& access = client.access;
  auto& record = client.record;
  record.tag = reason == http::Forward::request ? Tag::client_refresh : Tag::miss;
  record.hierarchy = Hierarchy::direct;
  const auto begun = steady_clock::now();
  cache::Times times{access.clock().now(), {}};
  PassedRequest passed(client, request, body);
  const ResponseWriter::WaitsFor waits(client.response, [&passed] { passed.fetch().abandon(); });
  const auto asked = co_await passed.ask();
  record.upstream_host = passed.host();
  if (passed.fetch().server().parent()) record.hierarchy = Hierarchy::parent;
  times.response = access.clock().now();
  times.ahead = access.clock().ahead();

  const auto answered = asked ? Outcome<unsigned>(passed.head().status) : asked.error();
  const auto stored = stand_in(client, request, passed.host(), std::move(stale), answered);
  if (stored) co_return co_await deliver_stored(client, request, *stored, reason);
  if (!asked) co_return co_await refuse(client, request, asked.error(), reason);
  record.storability = cache::storability_for(request.facts);
  if (passed.head().status == 101) {
    co_return co_await become_websocket(client, passed.fetch(), reason);
  }
  // Before invalidate(), which would itself count as an invalidation.
  const bool captured = may_capture(access, request, begun);
  co_await invalidate(access, request, passed.head());
  if (request.is_head()) heed_head(access, request, passed.head(), times, begun);
  std::unique_ptr<PostCapture> capture;
  if (captured) {
    record.storability = PostCapture::judge(request, passed.head(), times);
    if (record.storability == cache::Storability::yes)
      capture = PostCapture::begin(access, request, passed.head(), times);
  }
  co_await relay(client, request, passed, times, reason, capture.get());
  if (capture) record.storability = capture->storability();
  access.counters().count(record.storability);
}

}  // namespace proxy
