#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <span>

#include "peers/native_target.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/pages/own_pages.hpp"

namespace proxy::pages {

namespace beast = boost::beast;

using beast::http::field;
using net::Task;
namespace asio = net::asio;

namespace {

// The bytes of a form, which the caller keeps. The first part has `first` bytes; the rest follows
// it after the pause.
struct DigestParts {
  std::span<const std::uint8_t> bytes;
  std::size_t first;
  std::chrono::milliseconds pause{0};
};

// Whether a Hearsay polls us. It polls every second, so its polls are counted and not logged.
bool from_hearsay(const policy::Request& request) {
  return request.head.fields.value(http::field::user_agent).starts_with("Hearsay/");
}

observe::DigestsSent& sent_in(client::Client& client, observe::ServedForm form) {
  return client.access.counters().digests_sent[static_cast<std::size_t>(form)];
}

// A neighbour that polls us runs: it is tried again at once if it rests.
void hear(const Visit& visit) {
  const auto& peer = visit.caller.peer;
  if (peer) peer->accuracy.probation().heard(visit.pages.clock().steady());
}

// Whether the reader says that it holds this form.
bool is_held(const policy::Request& request, const peers::NativeForm& form, cache::Time now) {
  const http::StoredValidators validators{form.etag, {}};
  return http::not_modified(request.head.fields, validators, machine::whole_seconds(now));
}

// RFC 9110 15.4.5. Call this only for a request with a condition: Squid 5.7 crashes on any other
// 304.
PageAnswer send_unchanged(client::Client& client, reply::OwnHead head, observe::ServedForm form) {
  head.result(304);
  const beast::http::response<beast::http::empty_body> message(std::move(head));
  const auto error = co_await reply::send_message(client, message);
  if (error) co_return std::nullopt;
  auto& sent = sent_in(client, form);
  sent.requests.add();
  sent.not_modified.add();
  co_return std::nullopt;
}

// Sends a digest and counts it: its body unless the request is a HEAD.
PageAnswer send_digest(const Visit& visit, reply::OwnHead head, observe::ServedForm form,
                       DigestParts body) {
  auto& client = visit.client;
  reply::record_content_type(client, head);
  const beast::http::response<beast::http::empty_body> message(std::move(head));
  beast::http::serializer<false, beast::http::empty_body> serializer(message);
  const auto text = reply::take_head(serializer);
  const auto size = body.bytes.size();
  const asio::const_buffer first(body.bytes.data(), body.first);
  const std::span<const asio::const_buffer> parts(&first, 1);
  // In two parts if need be, with a pause between them, which send_message() does not know.
  auto error = co_await client.response.start(text, message.result_int(), size, parts);
  if (!error && body.first < size) {
    net::Timer timer(client.access.executor(), body.pause);
    co_await timer.async_wait(net::as_result);
    const auto rest = body.bytes.subspan(body.first);
    error = co_await client.response.body(asio::const_buffer(rest.data(), rest.size()));
  }
  if (!error) error = co_await client.response.finish();
  if (error) co_return std::nullopt;
  auto& sent = sent_in(client, form);
  sent.requests.add();
  // No body was sent, so none is counted.
  if (client.state.head_only) co_return std::nullopt;
  sent.bytes.add(size);
  // By the directory of now: the poll may have been held while the neighbour's address changed.
  if (const auto peer = visit.policy().directory->at(client.address)) {
    peer->accuracy.sent_digest(size);
  }
  co_return std::nullopt;
}

// The digest for this poll. If the reader holds the newest generation, waits until there is a newer
// one, for as long as the reader asked, and no longer once the proxy drains.
Task<std::shared_ptr<const peers::NativeForm>> await_form(const Visit& visit) {
  const auto& pages = visit.pages;
  const auto base = peers::native_base(visit.path());
  const auto until = pages.clock().steady() + peers::hold_asked(visit.path());
  // From here on a new generation wakes the poll.
  WaitingClients::Waiting poll(pages.visitors.held_polls, visit.client.address,
                               WaitingClients::Rank::other, visit.client.access.executor());
  for (;;) {
    auto form = pages.publisher.native(base.epoch, base.generation);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - pages.clock().steady());
    const bool waits =
        poll.has_place() && left.count() > 0 && !pages.instance.draining && !pages.instance.leaving;
    if (!waits || !is_held(visit.request, *form, pages.clock().now())) co_return form;
    co_await poll.next(left);
  }
}

}  // namespace

PageAnswer serve_store_digest(const Visit& visit) {
  const auto& pages = visit.pages;
  const auto& request = visit.request;
  auto& client = visit.client;
  hear(visit);
  const auto published = pages.publisher.current();
  const auto& form = *published->squid;
  const auto now = machine::whole_seconds(pages.clock().shown());
  // Not after our Date, which may be a tick behind (RFC 9110 8.8.2.1).
  const auto changed =
      std::min(machine::whole_seconds(pages.clock().shown(form.last_modified)), now);
  const auto lasts = std::chrono::ceil<std::chrono::seconds>(published->expires_after);
  auto head = reply::own_head(client, 200, "application/cache-digest");
  head.set(field::last_modified, http::format_date(changed));
  head.set(field::expires, http::format_date(now + lasts));
  head.set(field::etag, form.etag);
  const bool to_hearsay = from_hearsay(request);
  if (to_hearsay) head.set(peers::kEpochField, pages.publisher.epochs());
  client.record.routine = to_hearsay;
  const http::StoredValidators validators{form.etag, changed};
  if (http::not_modified(request.head.fields, validators, now)) {
    co_return co_await send_unchanged(client, std::move(head), observe::ServedForm::squid);
  }
  // Control block and mask are sent apart. Squid up to version 7 damages a mask that it reads
  // together with the control block (bug 5510), unless the mask is no longer than that block. A
  // Hearsay does not.
  const auto pause = visit.policy().settings.digest.squid.pause;
  const bool apart = form.body.size() > 2 * digest::kSquidControlBytes && pause.count() > 0 &&
                     !to_hearsay && !client.state.head_only;
  const DigestParts body{form.body, apart ? digest::kSquidControlBytes : form.body.size(), pause};
  co_return co_await send_digest(visit, std::move(head), observe::ServedForm::squid, body);
}

PageAnswer serve_native_digest(const Visit& visit) {
  auto& client = visit.client;
  hear(visit);
  // A line in the log each second for each neighbour would hide all others.
  client.record.routine = from_hearsay(visit.request);
  const auto form = co_await await_form(visit);
  auto head = reply::own_head(client, 200, peers::kNativeType);
  // A cache on the way would hand out an old generation as if nothing had changed.
  head.set(field::cache_control, "no-store");
  head.set(peers::kEpochField, client.access.fetching.sources.shared.publisher.epochs());
  head.set(field::etag, form->etag);
  if (is_held(visit.request, *form, client.access.clock().now())) {
    co_return co_await send_unchanged(client, std::move(head), observe::ServedForm::native);
  }
  const DigestParts body{form->body, form->body.size()};
  co_return co_await send_digest(visit, std::move(head), observe::ServedForm::native, body);
}

}  // namespace proxy::pages
