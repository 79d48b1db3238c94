#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "proxy/explain/explain.hpp"
#include "proxy/inspect/live.hpp"
#include "proxy/inspect/report.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/pages/own_pages.hpp"
#include "proxy/pages/query.hpp"

namespace proxy::pages {

namespace beast = boost::beast;

using net::Task;
namespace asio = net::asio;

namespace {

// A slice of a report that is being made, perhaps after its client has left.
struct Making {
  Making(net::Executor executor, std::shared_ptr<inspect::SlicedWalk> its)
      : slices(std::move(its)), made(executor) {}

  const std::shared_ptr<inspect::SlicedWalk> slices;
  std::string lines;
  bool more = false;
  net::Wakeup made;
  std::atomic<bool> given_up = false;
};

// Why the wait for a slice is given up; nothing while it goes on.
std::optional<std::string_view> why_over(const PagesAccess& pages) {
  if (pages.instance.draining) return "the proxy is ending";
  if (pages.tiers.disk && pages.tiers.disk->hangs()) return "the disk does not answer";
  return std::nullopt;
}

// Begins the slice on a thread that may wait for the disk. Returns false if too many jobs wait for
// such a thread.
bool begin(const PagesAccess& pages, const std::shared_ptr<Making>& making) {
  const auto job = [making, &clock = pages.clock()] {
    // The client of this slice is gone, and the disk is free for reads that others wait for.
    if (making->given_up) return;
    making->more = making->slices->next(clock, making->lines);
    making->made.notify();
  };
  // By the threads of the disk, since a slice reads it, and behind the reads that clients wait for.
  if (pages.tiers.disk) return pages.tiers.disk->post(job) == cache::DiskTier::Posted::yes;
  asio::post(pages.tiers.aside, job);
  return true;
}

// Makes a slice. Returns null if why_over() has a reason to give up.
Task<std::shared_ptr<Making>> make_slice(const Visit& visit,
                                         std::shared_ptr<inspect::SlicedWalk> slices) {
  constexpr std::chrono::milliseconds kLook{50};  // nothing wakes this for a disk that hangs
  // Shared with the job, which a disk that hangs may keep for longer than the client stays.
  auto making = std::make_shared<Making>(visit.client.access.executor(), std::move(slices));
  bool begun = false;
  while (!why_over(visit.pages)) {
    if (!begun) begun = begin(visit.pages, making);
    const auto woken = co_await making->made.wait(kLook);
    if (woken == net::Wakeup::Woken::notified) co_return making;
  }
  making->given_up = true;
  co_return nullptr;
}

// Answers with the lines that `slices` makes. Each slice is made after the reads of the disk that
// are queued already, and is sent before the next one is made. If the disk hangs or the proxy
// drains, the last line is {"error": "why"} and the response is cut. The response also ends when
// the client is gone. A slice may still be under way on return, so a slice uses only objects that
// it or the workers own.
PageAnswer send_slices(const Visit& visit, std::shared_ptr<inspect::SlicedWalk> slices) {
  constexpr std::chrono::seconds kSilent{1};
  const auto& pages = visit.pages;
  auto& response = visit.client.response;
  auto head = reply::own_head(visit.client, 200, "application/x-ndjson");
  head.set(beast::http::field::cache_control, "no-store");
  auto error = co_await reply::send_head(visit.client, head);
  bool more = !visit.client.state.head_only;
  auto sent = pages.clock().steady();
  while (more && !error) {
    const auto made = co_await make_slice(visit, slices);
    more = !made || made->more;
    const std::string why(why_over(pages).value_or("the disk did not answer for a while"));
    auto text = made ? std::move(made->lines) : inspect::Report().add("error", why).json();
    const auto now = pages.clock().steady();
    if (text.empty() && now - sent >= kSilent) text.push_back('\n');  // shows a lost client
    if (text.empty()) continue;
    sent = now;
    error = co_await response.body(asio::const_buffer(text.data(), text.size()));
    if (!made) co_return std::nullopt;  // unfinished, so that the client sees a cut response
  }
  if (!error) co_await response.finish();
  co_return std::nullopt;
}

inspect::Live live_in(const Visit& visit) {
  return {visit.pages.tiers.store, visit.pages.tiers.disk};
}

// One verification at a time, since each reads the whole disk.
struct EndVerify {
  void operator()(std::atomic<bool>* runs) const { *runs = false; }
};

boost::system::result<explain::Hypothesis, QueryFault> hypothesis_in(const Visit& visit) {
  constexpr std::string_view kNames[] = {"url", "method", "client", "user"};
  auto read = parameters(visit.path(), kNames);
  if (!read) return read.error();
  auto& given = *read;
  if (!given.contains("url")) return QueryFault{"expected ?url=http://HOST/PATH"};
  explain::Hypothesis asked{.url = std::move(given["url"]),
                            .method = std::move(given["method"]),
                            .client = visit.client.address,
                            .client_text = visit.client.address_text,
                            .user = std::move(given["user"])};
  // Without an address the answer is what the asker itself would get.
  if (!given.contains("client")) return asked;
  const auto address = config::parse_address(given["client"]);
  if (!address) return QueryFault{"client: expected an IP address"};
  asked.client = *address;
  asked.client_text = std::move(given["client"]);
  return asked;
}

}  // namespace

PageAnswer serve_cache_list(const Visit& visit) {
  auto prefix = only_parameter(visit.path(), "prefix");
  if (!prefix) return refused(reply::Refusal::bad(prefix.error().text));
  return send_slices(visit, inspect::list_live(live_in(visit), prefix->value_or("")));
}

PageAnswer serve_cache_sums(const Visit& visit) {
  auto contains = only_parameter(visit.path(), "contains");
  if (!contains) return refused(reply::Refusal::bad(contains.error().text));
  return send_slices(visit, inspect::sum_live(live_in(visit), contains->value_or("")));
}

PageAnswer serve_cache_show(const Visit& visit) {
  const auto url = only_parameter(visit.path(), "url");
  if (!url) return refused(reply::Refusal::bad(url.error().text));
  const auto target = *url ? http::parse_target("GET", **url) : http::HeadError::bad_target;
  if (!target || target->form() != http::Target::Form::absolute) {
    return refused(reply::Refusal::bad("expected ?url=http://HOST/PATH"));
  }
  // Stored names lack the parameters that a rule of the site drops.
  const auto name = visit.policy().rules.key_url(*target);
  return send_slices(visit, inspect::show_live(live_in(visit), name));
}

PageAnswer serve_cache_verify(const Visit& visit) {
  if (visit.request.framing.has_body()) visit.client.response.close_after();
  const auto parameters = only_parameter(visit.path(), "");
  if (!parameters) co_return reply::Refusal::bad(parameters.error().text);
  auto* const disk = visit.pages.tiers.disk;
  if (!disk) {
    co_return reply::Refusal{
        409, "there is nothing to verify: this cache is in memory alone", observe::Tag::none, {}};
  }
  auto& runs = visit.pages.instance.verifying;
  // Given back however this ends, also if the client leaves in the middle.
  const std::unique_ptr<std::atomic<bool>, EndVerify> turn(runs.exchange(true) ? nullptr : &runs);
  if (!turn)
    co_return reply::Refusal{409, "the cache is being verified already", observe::Tag::none, {}};
  std::shared_ptr<inspect::SlicedWalk> slices = inspect::verify_live(*disk, [](const auto& damage) {
    spdlog::warn("segment {:08x}, offset {}: {}; what the disk held there of {} was dropped",
                 damage.segment, damage.offset, to_string(damage.fault),
                 damage.url.empty() ? "some URL" : damage.url);
  });
  co_return co_await send_slices(visit, std::move(slices));
}

PageAnswer serve_explanation(const Visit& visit) {
  auto asked = hypothesis_in(visit);
  if (!asked) co_return reply::Refusal::bad(asked.error().text);
  const auto explained = co_await explain::explain(visit.client, std::move(*asked));
  if (!explained) co_return reply::Refusal::bad(explained.error().why);
  auto json = explain::explanation_json(*explained);
  co_return co_await send_json(visit.client, std::move(json));
}

PageAnswer serve_reload(const Visit& visit) {
  using Told = nlohmann::ordered_json;
  const auto& instance = visit.pages.instance;
  if (visit.request.framing.has_body()) visit.client.response.close_after();
  if (instance.leaving || instance.draining || !instance.reload) {
    co_return reply::Refusal{
        503, "this proxy is ending, and reads no settings any more", observe::Tag::none, {}};
  }
  const auto reloaded = co_await instance.reload();
  Told page{{"applied", reloaded.errors.empty()},
            {"file", reloaded.file},
            {"needs_restart", reloaded.waiting},
            {"errors", Told::array()}};
  for (const auto& error : reloaded.errors) {
    page["errors"].push_back({{"where", error.where}, {"what", error.what}});
  }
  // A path or a word of the file may have bytes that are no UTF-8, for which dump() would throw.
  auto json = page.dump(-1, ' ', false, Told::error_handler_t::replace) + '\n';
  // The order was understood, and the file is at fault (RFC 9110 15.5.21).
  const unsigned status = reloaded.errors.empty() ? 200 : 422;
  co_return co_await send_json(visit.client, std::move(json), status);
}

}  // namespace proxy::pages
