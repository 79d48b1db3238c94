#include "proxy/pages/neighbour_pages.hpp"

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <span>

#include "peers/native_target.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/reply/own_message.hpp"

namespace proxy {

using beast::http::field;
using net::Task;
namespace asio = net::asio;

namespace {

// A message body of bytes that the caller keeps, sent in two parts. The first part has `first`
// bytes.
struct DigestBody {
  struct value_type {
    std::span<const std::uint8_t> bytes;
    std::size_t first;
  };

  static std::uint64_t size(const value_type& body) { return body.bytes.size(); }

  class writer {
   public:
    using const_buffers_type = asio::const_buffer;

    template <bool isRequest, class Fields>
    writer(const beast::http::header<isRequest, Fields>&, const value_type& body)
        : rest_(body.bytes), next_(body.first) {}
    void init(beast::error_code& fault) { fault = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(beast::error_code& fault) {
      fault = {};
      const auto part = rest_.first(next_);
      rest_ = rest_.subspan(next_);
      next_ = rest_.size();
      return {{asio::const_buffer(part.data(), part.size()), !rest_.empty()}};
    }

   private:
    std::span<const std::uint8_t> rest_;
    std::size_t next_;
  };
};

// Whether a Hearsay polls us. It polls every second, so its polls are counted and not logged.
bool from_hearsay(const Request& request) {
  return request.head.fields.value(http::field::user_agent).starts_with("Hearsay/");
}

DigestsSent& sent_in(Client& client, ServedForm form) {
  return client.access.counters().digests_sent[static_cast<std::size_t>(form)];
}

// A neighbour that polls us runs: it is tried again at once if it rests.
void hear(const Client& client, const Request& request) {
  const auto peer = request.policy().directory->at(client.address);
  if (peer) peer->accuracy.probation().heard(client.access.clock().steady());
}

// Counts a digest that was sent to a neighbour. `size`: of its body, which is counted unless the
// request is a HEAD.
void count_sent(Client& client, const Request& request, ServedForm form, std::size_t size) {
  auto& sent = sent_in(client, form);
  sent.requests.add();
  if (client.response.head_only()) return;
  sent.bytes.add(size);
  if (const auto peer = request.policy().directory->at(client.address)) {
    peer->accuracy.sent_digest(size);
  }
}

// Whether the reader says that it holds this form.
bool is_held(const Request& request, const peers::NativeForm& form, cache::Time now) {
  const http::StoredValidators validators{form.etag, {}};
  return http::not_modified(request.head.fields, validators, machine::whole_seconds(now));
}

// RFC 9110 15.4.5. Call this only for a request with a condition: Squid 5.7 crashes on any other
// 304.
Task<void> send_unchanged(Client& client, OwnHead head, ServedForm form) {
  set_status(head, 304);
  const beast::http::response<beast::http::empty_body> message(std::move(head));
  const auto error = co_await send_message(client, message);
  if (error) co_return;
  auto& sent = sent_in(client, form);
  sent.requests.add();
  sent.not_modified.add();
}

Task<void> send_digest(Client& client, const Request& request, OwnHead head, ServedForm form,
                       const DigestBody::value_type& body, std::chrono::milliseconds pause = {}) {
  const beast::http::response<DigestBody> message(std::move(head), body);
  const auto error = co_await send_message(client, message, pause);
  if (!error) count_sent(client, request, form, body.bytes.size());
}

// The digest for this poll. If the reader holds the newest generation, waits until there is a newer
// one, for as long as the reader asked, and no longer once the proxy drains.
Task<std::shared_ptr<const peers::NativeForm>> await_form(const PagesAccess& pages, Client& client,
                                                          const Request& request) {
  const auto base = peers::native_base(request.target.path());
  const auto until = pages.clock().steady() + peers::hold_asked(request.target.path());
  // From here on a new generation wakes the poll.
  HeldPolls::Held poll(pages.visitors.held_polls, client.address, client.access.executor());
  for (;;) {
    auto form = pages.publisher.native(base.epoch, base.generation);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - pages.clock().steady());
    const bool waits =
        poll.has_place() && left.count() > 0 && !pages.instance.draining && !pages.instance.leaving;
    if (!waits || !is_held(request, *form, pages.clock().now())) co_return form;
    co_await poll.wait(left);
  }
}

}  // namespace

Task<void> serve_store_digest(const PagesAccess& pages, Client& client, const Request& request,
                              RequestBody&) {
  hear(client, request);
  const auto published = pages.publisher.current();
  const auto& form = *published->squid;
  const auto now = machine::whole_seconds(pages.clock().shown());
  // Not after our Date, which may be a tick behind (RFC 9110 8.8.2.1).
  const auto changed =
      std::min(machine::whole_seconds(pages.clock().shown(form.last_modified)), now);
  const auto lasts = std::chrono::ceil<std::chrono::seconds>(published->expires_after);
  auto head = own_head(client, 200, "application/cache-digest");
  head.set(field::last_modified, http::format_date(changed));
  head.set(field::expires, http::format_date(now + lasts));
  head.set(field::etag, form.etag);
  const bool to_hearsay = from_hearsay(request);
  if (to_hearsay) head.set(peers::kEpochField, pages.publisher.epochs());
  client.record.routine = to_hearsay;
  const http::StoredValidators validators{form.etag, changed};
  if (http::not_modified(request.head.fields, validators, now)) {
    co_return co_await send_unchanged(client, std::move(head), ServedForm::squid);
  }
  // Control block and mask are sent apart. Squid up to version 7 damages a mask that it reads
  // together with the control block (bug 5510), unless the mask is no longer than that block. A
  // Hearsay does not.
  const auto pause = request.policy().settings.digest.squid_pause;
  const bool apart = form.body.size() > 2 * digest::kSquidControlBytes && pause.count() > 0 &&
                     !to_hearsay && !client.response.head_only();
  const DigestBody::value_type body{form.body,
                                    apart ? digest::kSquidControlBytes : form.body.size()};
  co_await send_digest(client, request, std::move(head), ServedForm::squid, body, pause);
}

Task<void> serve_native_digest(const PagesAccess& pages, Client& client, const Request& request,
                               RequestBody&) {
  hear(client, request);
  client.record.routine = from_hearsay(request);
  const auto form = co_await await_form(pages, client, request);
  auto head = own_head(client, 200, peers::kNativeType);
  head.set(field::cache_control, "no-store");
  head.set(peers::kEpochField, client.access.fetching.sources.shared.publisher.epochs());
  head.set(field::etag, form->etag);
  if (is_held(request, *form, client.access.clock().now())) {
    co_return co_await send_unchanged(client, std::move(head), ServedForm::native);
  }
  const DigestBody::value_type body{form->body, form->body.size()};
  co_await send_digest(client, request, std::move(head), ServedForm::native, body);
}

}  // namespace proxy
