#include "proxy/pages/purge.hpp"

#include <chrono>

#include "proxy/pages/purge_order.hpp"
#include "proxy/pages/readers.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

constexpr std::size_t kLongestOrder = 32 * 1024;  // some URLs of the greatest length

Task<Forgotten> forget_url(CacheAccess& cache, const std::string& name) {
  co_return co_await forget(cache, digest::key_of(digest::Method::get, name), name);
}

// Purges in both key spaces, since no order can mean only one of them.
Task<std::optional<Forgotten>> carry_out(Client& client, const Request& request, PurgeOrder order) {
  const auto* url = std::get_if<http::Target>(&order);
  auto& cache = client.access.fetching.cached();
  if (!url) co_return co_await forget(cache, std::get<PurgePattern>(order));
  const auto name = request.policy().rules.key_url(*url);
  const auto reverse = std::string(kReverseSpace) + name;
  const auto forward = co_await forget_url(cache, name);
  const auto others = co_await forget_url(cache, reverse);
  co_return Forgotten{forward.dropped + others.dropped, forward.owed || others.owed};
}

Task<void> tell(Client& client, unsigned status, const Forgotten& purged) {
  client.access.counters().purged.add(purged.dropped);
  const std::string_view owed = purged.owed ? ", \"owed\": true" : "";
  auto body = "{\"purged\": " + std::to_string(purged.dropped) + std::string(owed) + "}\n";
  const auto message = own_message(client, status, "application/json", std::move(body));
  co_await send_message(client, message);
}

// Reads the whole body. Returns a refusal if the body is too long or cannot be read.
Task<std::optional<Refusal>> read_body(Client& client, const Request& request, RequestBody& body,
                                       std::string& into) {
  Refusal too_large{413, "a purge is ordered in at most 32 KiB", Tag::denied, {}};
  const auto& framing = request.framing;
  if (framing.kind == http::Framing::Kind::sized && framing.length > kLongestOrder) {
    co_return too_large;
  }
  if (request.head.fields.has(http::field::expect)) co_await client.response.interim(kContinue);
  const auto idle = request.policy().settings.timeouts.body;
  std::size_t size = 0;
  into.resize(kLongestOrder + 1);
  while (!body.finished()) {
    if (size == into.size()) co_return too_large;
    const auto rest = asio::buffer(into.data() + size, into.size() - size);
    const auto read = co_await body.read(rest, idle);
    if (!read) co_return Refusal::failure(failure_of(Failure::Where::client, read.error()));
    size += *read;
  }
  into.resize(size);
  co_return std::nullopt;
}

}  // namespace

Task<void> serve_purge(const PagesAccess& pages, Client& client, const Request& request) {
  if (request.framing.has_body()) client.response.close_after();
  if (auto refusal = check_admin(pages, client, request)) {
    co_return co_await refuse(client, request, std::move(*refusal));
  }
  const auto purged = co_await forget_url(client.access.fetching.cached(), request.stored_as());
  const unsigned status = purged.dropped > 0 ? 200 : 404;
  client.record.tag = Tag::purge;
  co_await tell(client, status, purged);
}

Task<void> serve_purge_order(const PagesAccess&, Client& client, const Request& request,
                             RequestBody& body) {
  std::string text;
  auto refusal = co_await read_body(client, request, body, text);
  if (refusal) co_return co_await refuse(client, request, std::move(*refusal));
  auto order = parse_purge_order(text);
  if (!order) {
    auto faults = Refusal::bad(order.error());
    co_return co_await refuse(client, request, std::move(faults));
  }
  const auto purged = co_await carry_out(client, request, std::move(*order));
  if (!purged) {
    Refusal busy{503, "too many such purges are being carried out; try again", Tag::none, {}};
    co_return co_await refuse(client, request, std::move(busy));
  }
  co_await tell(client, 200, *purged);
}

}  // namespace proxy
