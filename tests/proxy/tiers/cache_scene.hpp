// Memory and disk as one cache, in time that stands, without a process around it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "proxy/cache/purge_pattern.hpp"
#include "proxy/tiers/cache.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/policy/requests.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::tiers {

enum class Over : std::uint8_t { memory, disk };

struct CacheScene {
  explicit CacheScene(Over over, cache::DiskLimits limits = {}) {
    if (over == Over::memory) return;
    limits.path = home.path();
    limits.bytes = 64 << 20;
    disk.emplace(budget, clock, limits, cache::PurgePattern::reading, digest::unpredictable());
    if (!disk->start()) throw std::runtime_error("the disk does not start");
    tiers.disk = &*disk;
  }
  ~CacheScene() {
    aside.stop();
    if (scanning.joinable()) scanning.join();
  }

  [[nodiscard]] AskedAt now() const { return clock.steady(); }
  [[nodiscard]] cache::Ref<const cache::Entry> entry_of(cache::Stock stock) {
    stock.times = {clock.now(), clock.now()};
    return cache::entry_of(budget, stock);
  }
  bool keep(const std::string& url, AskedAt asked, cache::Giver giver = {},
            std::uint32_t body = 10) {
    const auto entry = entry_of({.url = url, .body = body, .giver = giver});
    return cache.store(cache::key_of(url), entry, asked);
  }
  [[nodiscard]] cache::Found in_memory(const std::string& url) {
    const policy::TextRequest request("", "GET " + url + " HTTP/1.1");
    return store.find(cache::key_of(url), url, (*request).head.fields);
  }
  Stored find(const std::string& url, AskedAt asked) {
    const policy::TextRequest request("", "GET " + url + " HTTP/1.1");
    Stored stored;
    support::run(io, access.find(*request, {cache::key_of(url), asked}, stored));
    return stored;
  }
  Forgotten forget(const std::string& url) {
    return support::run(io, access.forget(cache::key_of(url), url));
  }
  std::optional<Forgotten> forget_all(const cache::PurgePattern& purge) {
    return support::run(io, access.forget(purge));
  }
  // Memory gives the response up; the disk keeps it.
  void evict(const std::string& url) {
    if (disk && !disk->settle(std::chrono::seconds(10))) throw std::runtime_error("no rest");
    store.invalidate(cache::key_of(url), url);
  }

  const support::TemporaryDirectory home;
  machine::Clock clock{cache::kStart};
  net::asio::io_context io{1};
  net::asio::io_context aside{1};
  net::asio::executor_work_guard<net::Executor> work{aside.get_executor()};
  std::thread scanning{[this] { aside.run(); }};
  cache::Budget budget{256 << 20};
  cache::Store store{budget};
  fill::Fills fills;
  Tiers tiers{.clock = clock,
              .budget = budget,
              .store = store,
              .fills = fills,
              .aside = aside.get_executor()};
  Cache cache{tiers};
  CacheAccess access{cache, io.get_executor()};
  std::optional<cache::DiskTier> disk;
};

}  // namespace proxy::tiers
