#include "proxy/pages/purge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/section.hpp"
#include "proxy/policy/content.hpp"

namespace proxy::pages {

using net::Task;
namespace asio = net::asio;

namespace {

using config::LocatedValue;
using config::Section;

std::optional<http::Target> url_at(Section& in, const LocatedValue& found) {
  const auto* text = std::get_if<std::string>(&found.value->content);
  const auto target = text ? http::parse_target("GET", *text) : http::HeadError::bad_target;
  if (target && target->form() == http::Target::Form::absolute) return *target;
  in.expected(found, "a URL like \"http://example.com/a\"");
  return std::nullopt;
}

std::optional<PurgeOrder> read_order(Section& in) {
  const std::array values{in.find("url"), in.find("prefix"), in.find("host")};
  const auto given = std::count_if(values.begin(), values.end(),
                                   [](const auto& found) { return found.has_value(); });
  if (given != 1) {
    if (in.is_object()) in.fault(in.whole(), R"(expected one of "url", "prefix" and "host")");
    return std::nullopt;
  }
  const auto& [url, prefix, host] = values;
  if (url) return url_at(in, *url);
  if (host) {
    const auto hosts = in.host_pattern(*host);
    return hosts ? std::optional<PurgeOrder>(cache::PurgePattern(http::HostPattern(*hosts)))
                 : std::nullopt;
  }
  // With a whole host, or "http://a" would purge a.test and all other hosts that begin so.
  const auto begin = url_at(in, *prefix);
  return begin ? std::optional<PurgeOrder>(cache::PurgePattern(begin->url())) : std::nullopt;
}

std::string text_of(const config::Faults& faults) {
  std::string text;
  for (const auto& [at, path, what] : faults) {
    text += fmt::format("{}line {}, column {}{}: {}", text.empty() ? "" : "\n", at.line, at.column,
                        path.empty() ? "" : ", " + path, what);
  }
  return text;
}

constexpr std::size_t kLongestOrder = 32 * 1024;  // some URLs of the greatest length

// `rule`: of the URL. Forgets the record by which the URL gets what is stored for another one, too.
Task<tiers::Forgotten> forget_url(tiers::CacheAccess& cache, std::string name,
                                  const http::Target& url, const policy::SiteRule* rule) {
  auto forgotten = co_await cache.forget(digest::key_of(digest::Method::get, name), name);
  const auto text = rule ? rule->content_name(url) : std::nullopt;
  const auto content = text ? mirrors::ContentName::parse(*text) : std::nullopt;
  if (!content) co_return forgotten;
  const auto record = policy::stored_under(*content);
  const auto of_record = co_await cache.forget(digest::key_of(digest::Method::get, record), record);
  forgotten.owed = forgotten.owed || of_record.owed;
  forgotten.dropped = std::max(forgotten.dropped, of_record.dropped);
  co_return forgotten;
}

// Purges in both spaces, since no order can mean only one of them.
Task<std::optional<tiers::Forgotten>> carry_out(const Visit& visit, PurgeOrder order) {
  const auto* url = std::get_if<http::Target>(&order);
  auto& cache = visit.client.access.fetching.cached();
  if (!url) co_return co_await cache.forget(std::get<cache::PurgePattern>(order));
  // Stored names lack the parameters that a rule of the site drops.
  const auto name = visit.policy().rules.key_url(*url);
  tiers::Forgotten all;
  for (const auto space : {cache::Space::web, cache::Space::gateway}) {
    auto stored_as = cache::StoredName{space, name}.encode();
    const auto forgotten =
        co_await forget_url(cache, std::move(stored_as), *url, visit.policy().rules.find(*url));
    all = {all.dropped + forgotten.dropped, all.owed || forgotten.owed};
  }
  co_return all;
}

reply::OwnMessage message_of(client::Client& client, unsigned status,
                             const tiers::Forgotten& purged) {
  client.access.counters().purged.add(purged.dropped);
  auto json =
      fmt::format("{{\"purged\": {}{}}}\n", purged.dropped, purged.owed ? ", \"owed\": true" : "");
  return reply::own_message(client, status, "application/json", std::move(json));
}

// Reads the whole body. Returns a refusal if the body is too long or cannot be read.
PageAnswer read_body(const Visit& visit, std::string& into) {
  auto& request = visit.request;
  reply::Refusal too_large{413, "a purge is ordered in at most 32 KiB", observe::Tag::denied, {}};
  const auto& framing = request.framing;
  if (framing.kind == http::Framing::Kind::sized && framing.length > kLongestOrder) {
    co_return too_large;
  }
  if (request.head.fields.has(http::field::expect))
    co_await visit.client.response.interim(client::kContinue);
  const auto idle = visit.policy().settings.timeouts.body;
  std::size_t size = 0;
  into.resize(kLongestOrder + 1);  // one byte more tells a body that is too long
  while (!visit.body.finished()) {
    if (size == into.size()) co_return too_large;
    const auto rest = asio::buffer(into.data() + size, into.size() - size);
    const auto read = co_await visit.body.read(rest, idle);
    if (!read)
      co_return reply::Refusal::failure(
          upstream::failure_of(upstream::Failure::Where::client, read.error()));
    size += *read;
  }
  into.resize(size);
  co_return std::nullopt;
}

}  // namespace

boost::system::result<PurgeOrder, std::string> parse_purge_order(std::string_view json) {
  if (json.find_first_not_of(" \t\r\n") == json.npos) {
    return std::string(R"(is empty; a purge is ordered like {"url": "http://example.com/a"})");
  }
  config::Faults faults;
  std::optional<PurgeOrder> order;
  if (const auto document = config::parse_document(json, faults)) {
    Section in({&*document, ""}, faults);
    order = read_order(in);
    // An unknown key beside a good one is a fault, too: the order may mean something else.
    in.finish("key of a purge");
  }
  if (!faults.empty()) return text_of(faults);
  return std::move(*order);
}

Task<void> serve_purge(const PagesAccess& pages, client::Client& client,
                       const policy::Request& request) {
  if (request.framing.has_body()) client.response.close_after();
  if (auto refusal = check_admin(pages, client, request)) {
    co_return co_await reply::refuse(client, request, std::move(*refusal));
  }
  const auto purged = co_await forget_url(client.access.fetching.cached(), request.stored_as(),
                                          request.target, request.rule());
  client.record.tag = observe::Tag::purge;
  // As Squid answers PURGE, so that its scripts work here.
  const auto message = message_of(client, purged.dropped > 0 ? 200 : 404, purged);
  co_await reply::send_message(client, message);
}

PageAnswer serve_purge_order(const Visit& visit) {
  std::string text;
  auto refusal = co_await read_body(visit, text);
  if (refusal) co_return refusal;
  auto order = parse_purge_order(text);
  if (!order) co_return reply::Refusal::bad(order.error());
  const auto purged = co_await carry_out(visit, std::move(*order));
  if (!purged) {
    co_return reply::Refusal{
        503, "too many such purges are being carried out; try again", observe::Tag::none, {}};
  }
  auto message = message_of(visit.client, 200, *purged);
  co_return co_await send_page(visit.client, std::move(message));
}

}  // namespace proxy::pages
