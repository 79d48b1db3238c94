#include "proxy/pages/own_pages.hpp"

#include <unistd.h>

#include <array>

#include "peers/native_target.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/pages/cache_pages.hpp"
#include "proxy/pages/purge.hpp"
#include "proxy/reply/own_answer.hpp"
#include "proxy/request/gateway.hpp"
#include "proxy/tiers/disk_status.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

constexpr std::string_view kIndex =
    "Hearsay, a caching proxy whose neighbours know what it holds.\n"
    "\n"
    "/digest    what is held and what neighbours claim, as JSON\n"
    "/metrics   counters, for Prometheus\n"
    "/health    whether this proxy is up\n"
    "/admin/purge  POST: drops what is stored, by URL, prefix or host\n"
    "/admin/cache/list    what is stored, a line of JSON each; ?prefix=URL\n"
    "/admin/cache/show    all that is stored of a URL: ?url=URL\n"
    "/admin/cache/verify  POST: checks all that is on disk\n"
    "/admin/cache/drop    POST: as /admin/purge\n";

constexpr std::string_view kAllowed = "GET, HEAD, OPTIONS";

bool is_our_name(const Client& client, std::string_view host) {
  if (host == "localhost") return true;
  std::array<char, 256> hostname{};
  ::gethostname(hostname.data(), hostname.size() - 1);
  return http::same_word(host, hostname.data()) || http::same_word(host, client.worker.shared.name);
}

// A socket of ours, by its address or one of our names.
bool names_own_socket(const Client& client, const http::Target& target) {
  if (client.worker.guard.names_own_socket(target.host(), target.port())) return true;
  const auto& listening = client.worker.shared.listening;
  const bool our_port = std::any_of(listening.begin(), listening.end(), [&](const auto& socket) {
    return socket.port() == target.port();
  });
  return our_port && is_our_name(client, target.host());
}

// A name that a page of another site could have been made to point at us is not ours (DNS
// rebinding); an address cannot be.
bool names_us(const Client& client, const Request& request) {
  const auto host = request.target.host();
  return host.empty() || config::parse_address(host) || is_our_name(client, host);
}

bool from_hearsay(const Request& request) {
  return request.head.fields.value(http::field::user_agent).starts_with("Hearsay/");
}

// Or makes work: then it is for those who may, and mean it.
bool changes(Page page) {
  return page == Page::purge || page == Page::cache_verify;
}

std::optional<Refusal> check_reader(const Client& client, const Request& request, Page page) {
  const auto& access = client.worker.shared.settings.access;
  const bool admin = config::contains(access.admin, client.address);
  if (page == Page::native_digest && came_through_a_proxy(request)) {
    return Refusal::forbidden("this digest tells its salt, so not through another proxy");
  }
  if (page == Page::native_digest || page == Page::store_digest) {
    if (admin || client.worker.shared.directory.knows(client.address) ||
        config::contains(access.peers, client.address)) {
      return std::nullopt;
    }
    return Refusal::forbidden(
        "this digest is for neighbours (settings peers, access.peers, access.admin)");
  }
  if (came_through_a_proxy(request)) return Refusal::forbidden("not through another proxy");
  if (!names_us(client, request)) return Refusal::forbidden("the Host field does not name me");
  if (changes(page)) return check_admin(client, request);
  if (page == Page::cache_list || page == Page::cache_show) {
    if (admin) return std::nullopt;
    return Refusal::forbidden("not for your address (setting access.admin)");
  }
  if (admin || config::contains(access.monitor, client.address)) return std::nullopt;
  return Refusal::forbidden("not for your address (setting access.monitor)");
}

Task<void> send_page(Client& client, std::string_view type, std::string_view body,
                     unsigned status = 200) {
  const OwnAnswer answer{.status = status, .content_type = type, .body = body};
  co_await send_own(client, answer);
}

Task<void> send_options(Client& client) {
  const OwnAnswer answer{.allow = kAllowed};
  co_await send_own(client, answer);
}

// A digest went out to a neighbour; `sent`: its body, in so far as one was asked for.
void count_served(Client& client, DigestForm form, std::size_t sent) {
  auto& served = client.worker.counters.served[static_cast<std::size_t>(form)];
  served.requests.add();
  if (client.reply.head_only()) return;
  served.bytes.add(sent);
  if (const auto peer = client.worker.shared.directory.at(client.address)) {
    peer->accuracy.sent_digest(sent);
  }
}

// RFC 9110 15.4.5; only ever in answer to a condition (Squid 5.7 crashes on any other 304).
Task<void> send_unchanged(Client& client, const std::string& head, DigestForm form) {
  auto unchanged = head;
  unchanged.replace(0, unchanged.find("\r\n"), "HTTP/1.1 304 Not Modified");
  const auto error = co_await client.reply.start(unchanged, 304, std::nullopt);
  if (error) co_return;
  co_await client.reply.finish();
  auto& served = client.worker.counters.served[static_cast<std::size_t>(form)];
  served.requests.add();
  served.not_modified.add();
}

// The control block and the mask apart: Squid up to 7 damages a mask that it finds in the same read
// as the control block (bug 5510), unless it is no longer than that block. A Hearsay does not.
Task<void> send_with_pause(Client& client, const std::string& head,
                           const std::vector<std::uint8_t>& body, bool to_hearsay) {
  auto& reply = client.reply;
  const auto pause = client.worker.shared.settings.digest.squid_pause;
  const bool apart = body.size() > 2 * digest::kSquidControlBytes && pause.count() > 0 &&
                     !to_hearsay && !reply.head_only();
  const auto first = apart ? digest::kSquidControlBytes : body.size();
  const auto control = asio::const_buffer(body.data(), first);
  auto error = co_await reply.start(head, 200, body.size(), {&control, 1});
  if (!error && apart) {
    net::Timer timer(client.worker.io.get_executor(), pause);
    co_await timer.async_wait(net::as_result);
    error = co_await reply.body(asio::const_buffer(body.data() + first, body.size() - first));
  }
  if (error) co_return;
  co_await reply.finish();
  count_served(client, DigestForm::squid, body.size());
}

Task<void> send_store_digest(Client& client, const Request& request) {
  auto& shared = client.worker.shared;
  const auto published = shared.publisher.current();
  const auto& form = *published->squid;
  const auto now = whole_seconds(shared.clock.now());
  const auto changed = std::chrono::floor<std::chrono::seconds>(form.last_modified);
  const auto lasts = std::chrono::ceil<std::chrono::seconds>(published->expires_after);
  client.reply.record().content_type = "application/cache-digest";
  auto head = own_head(client, 200, "application/cache-digest");
  http::append_field(head, "Last-Modified", http::format_date(changed));
  http::append_field(head, "Expires", http::format_date(now + lasts));
  http::append_field(head, "ETag", form.etag);
  client.reply.record().routine = from_hearsay(request);
  const http::StoredValidators validators{form.etag, changed};
  if (http::not_modified(request.head.fields, validators, now)) {
    co_return co_await send_unchanged(client, head, DigestForm::squid);
  }
  co_await send_with_pause(client, head, form.body, from_hearsay(request));
}

Task<void> send_native_digest(Client& client, const Request& request) {
  auto& shared = client.worker.shared;
  const auto base = peers::native_base(request.target.path());
  const auto form = shared.publisher.native(base.epoch, base.generation);
  client.reply.record().content_type = peers::kNativeType;
  client.reply.record().routine = from_hearsay(request);
  auto head = own_head(client, 200, peers::kNativeType);
  http::append_field(head, "Cache-Control", "no-store");
  http::append_field(head, "ETag", form->etag);
  const http::StoredValidators validators{form->etag, {}};
  if (http::not_modified(request.head.fields, validators, whole_seconds(shared.clock.now()))) {
    co_return co_await send_unchanged(client, head, DigestForm::native);
  }
  const auto bytes = asio::const_buffer(form->body.data(), form->body.size());
  const auto error = co_await client.reply.start(head, 200, form->body.size(), {&bytes, 1});
  if (error) co_return;
  co_await client.reply.finish();
  count_served(client, DigestForm::native, form->body.size());
}

Page page_at(const http::Target& target) {
  if (target.form() == http::Target::Form::asterisk) return Page::options;
  const auto path = target.path().substr(0, target.path().find('?'));
  if (path == "/") return Page::index;
  if (path == "/digest") return Page::digest;
  if (path == peers::kNativePath) return Page::native_digest;
  if (path == "/squid-internal-periodic/store_digest") return Page::store_digest;
  if (path == "/health") return Page::health;
  if (path == "/metrics") return Page::metrics;
  if (path == "/admin/purge" || path == "/admin/cache/drop") return Page::purge;
  if (path == "/admin/cache/list") return Page::cache_list;
  if (path == "/admin/cache/show") return Page::cache_show;
  if (path == "/admin/cache/verify") return Page::cache_verify;
  return Page::unknown;
}

// Whether the page is ours though the request is mapped.
bool keeps(const Client& client, const Request& request, Page page) {
  const auto& target = request.target;
  switch (page) {
    case Page::index:
    case Page::options:
    case Page::unknown:
      return false;
    case Page::native_digest:
    case Page::store_digest:
      if (request.mapping()->any_host) return true;
      [[fallthrough]];
    case Page::digest:
    case Page::health:
    case Page::metrics:
    case Page::purge:
    case Page::cache_list:
    case Page::cache_show:
    case Page::cache_verify:
      return target.host().empty() || names_own_socket(client, target);
  }
  return false;
}

}  // namespace

bool came_through_a_proxy(const Request& request) {
  const auto& fields = request.head.fields;
  return fields.has(http::field::via) ||
         std::any_of(fields.begin(), fields.end(), http::is_forwarded_field);
}

bool is_for_us(const Client& client, const http::Target& target) {
  using Form = http::Target::Form;
  if (target.form() == Form::authority) return false;
  return target.form() != Form::absolute || names_own_socket(client, target);
}

std::optional<Page> own_page(const Client& client, const Request& request) {
  if (!is_for_us(client, request.target)) return std::nullopt;
  const auto page = page_at(request.target);
  if (!request.mapping() || keeps(client, request, page)) return page;
  return std::nullopt;
}

Task<void> serve_own(Client& client, const Request& request, Page page, BodyReader& body) {
  auto& record = client.reply.record();
  record.tag = Tag::own_page;
  if (auto refusal = check_reader(client, request, page)) {
    co_return co_await refuse(client, request, std::move(*refusal));
  }
  if (changes(page)) {
    if (request.head.method == "POST") {
      if (page == Page::purge) co_return co_await serve_purge_order(client, request, body);
      if (request.framing.has_body()) client.reply.close_after();
      co_return co_await serve_cache_page(client, request, page);
    }
    Refusal refusal{405, "only POST", Tag::denied, {}, "POST"};
    co_return co_await refuse(client, request, std::move(refusal));
  }
  if (request.framing.has_body()) client.reply.close_after();
  if (request.head.method == "OPTIONS") co_return co_await send_options(client);
  if (request.facts.method == cache::RequestFacts::Method::other) {
    Refusal refusal{405, "only GET, HEAD and OPTIONS", Tag::denied, {}, kAllowed};
    co_return co_await refuse(client, request, std::move(refusal));
  }
  switch (page) {
    case Page::index:
      co_return co_await send_page(client, "text/plain; charset=utf-8", kIndex);
    case Page::digest: {
      const auto json = digest_json(client.worker.shared);
      co_return co_await send_page(client, "application/json", json);
    }
    case Page::native_digest:
      co_return co_await send_native_digest(client, request);
    case Page::store_digest:
      co_return co_await send_store_digest(client, request);
    case Page::health: {
      const bool draining = client.worker.shared.draining;
      auto text = std::string(draining ? "{\"status\":\"draining\"" : "{\"status\":\"ok\"");
      text += disk_health(client.worker.shared.disk) + "}\n";
      const unsigned status = draining ? 503 : 200;
      co_return co_await send_page(client, "application/json", text, status);
    }
    case Page::metrics: {
      const auto text = metrics_text(client.worker.shared);
      co_return co_await send_page(client, "text/plain; version=0.0.4; charset=utf-8", text);
    }
    case Page::cache_list:
    case Page::cache_show:
      co_return co_await serve_cache_page(client, request, page);
    case Page::options:
    case Page::purge:
    case Page::cache_verify:
    case Page::unknown:
      break;
  }
  Refusal refusal{404, "no such page here; / lists what there is", Tag::own_page, {}};
  co_await refuse(client, request, std::move(refusal));
}

}  // namespace proxy
