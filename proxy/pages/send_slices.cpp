#include "proxy/pages/send_slices.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/inspect/report.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/reply/own_message.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

constexpr std::string_view kLines = "application/x-ndjson";
constexpr std::chrono::milliseconds kLook{50};  // how often a wait is checked
constexpr std::chrono::seconds kSilent{1};

struct Making {
  Making(net::Executor executor, std::shared_ptr<inspect::Slices> its)
      : slices(std::move(its)), made(executor) {}

  const std::shared_ptr<inspect::Slices> slices;
  std::string lines;
  bool more = false;
  Wakeup made;
  std::atomic<bool> given_up = false;
};

// Why the wait for a slice is given up; nothing while it goes on.
std::optional<std::string_view> why_over(const PagesAccess& pages) {
  if (pages.instance.draining) return "the proxy is ending";
  if (pages.cache.disk && pages.cache.disk->hangs()) return "the disk does not answer";
  return std::nullopt;
}

// Begins the slice on a thread that may wait for the disk. Returns false if too many jobs wait for
// such a thread.
bool begin(const PagesAccess& pages, const std::shared_ptr<Making>& making) {
  const auto job = [making, &clock = pages.clock()] {
    if (making->given_up) return;
    making->more = making->slices->next(clock, making->lines);
    making->made.notify();
  };
  if (pages.cache.disk) return pages.cache.disk->post(job) == cache::DiskTier::Posted::yes;
  asio::post(pages.cache.aside, job);
  return true;
}

// Makes a slice. Returns null if why_over() has a reason to give up.
Task<std::shared_ptr<Making>> make_slice(const PagesAccess& pages, net::Executor executor,
                                         std::shared_ptr<inspect::Slices> slices) {
  auto making = std::make_shared<Making>(executor, std::move(slices));
  bool begun = false;
  while (!why_over(pages)) {
    if (!begun) begun = begin(pages, making);
    const auto woken = co_await making->made.wait(kLook);
    if (woken == Wakeup::Woken::notified) co_return making;
  }
  making->given_up = true;
  co_return nullptr;
}

// The last line of a response that ends early.
std::string last_line(const PagesAccess& pages) {
  const std::string why(why_over(pages).value_or("the disk did not answer for a while"));
  return inspect::Report().add("error", why).json();
}

}  // namespace

Task<void> send_slices(const PagesAccess& pages, Client& client,
                       std::shared_ptr<inspect::Slices> slices) {
  auto& response = client.response;
  auto head = own_head(client, 200, kLines);
  head.set(beast::http::field::cache_control, "no-store");
  auto error = co_await send_head(client, head);
  bool more = !response.head_only();
  auto sent = pages.clock().steady();
  while (more && !error) {
    const auto made = co_await make_slice(pages, client.access.executor(), slices);
    more = !made || made->more;
    std::string text = made ? std::move(made->lines) : last_line(pages);
    const auto now = pages.clock().steady();
    if (text.empty() && now - sent >= kSilent) text.push_back('\n');  // shows a lost client
    if (text.empty()) continue;
    sent = now;
    error = co_await response.body(asio::const_buffer(text.data(), text.size()));
    if (!made) co_return;
  }
  if (!error) co_await response.finish();
}

}  // namespace proxy
