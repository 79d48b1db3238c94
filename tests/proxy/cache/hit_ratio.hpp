// The hit ratio of a trace for a cache of a given size: of our store, and of LRU for comparison.
#pragma once

#include <algorithm>
#include <list>
#include <numeric>
#include <string>
#include <vector>

#include "proxy/cache/store.hpp"
#include "tests/bench/traces.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {

// 256 bytes to 8 KiB; each size is as frequent as its double.
inline std::uint32_t body_bytes(std::uint32_t object) {
  std::mt19937 random(object);
  return std::uint32_t{256} << random() % 6;
}

// A trace, its responses, and the memory that each response takes.
class Workload {
 public:
  explicit Workload(bench::Trace trace) : trace_(std::move(trace)), costs_(trace_.objects) {
    Store store(unbounded_);
    for (const std::uint32_t object : trace_.requests) {
      if (costs_[object] > 0) continue;
      const std::uint64_t before = unbounded_.used();
      store.put(key_of(url_of(object)), {response_to(unbounded_, object)}, kStart);
      costs_[object] = unbounded_.used() - before;
      store.remove(key_of(url_of(object)));
    }
    footprint_ = std::accumulate(costs_.begin(), costs_.end(), std::uint64_t{0});
  }

  const bench::Trace& trace() const { return trace_; }
  // The memory that all requested responses take together.
  std::uint64_t footprint() const { return footprint_; }

  // The share of requests that are hits, in percent, if the store with all its bookkeeping takes
  // `bytes`.
  double store_hits(std::uint64_t bytes) const {
    Budget budget(bytes);
    Store store(budget);
    const Request request;
    std::size_t hits = 0;
    for (const std::uint32_t object : trace_.requests) {
      const std::string url = url_of(object);
      const auto key = key_of(url);
      if (store.find(key, url, request.head.fields).entry) {
        ++hits;
      } else {
        store.put(key, {response_to(budget, object)}, kStart);
      }
    }
    return percent(hits);
  }

  // The same for an LRU whose entries take as much, and that needs no memory itself.
  double lru_hits(std::uint64_t bytes) const {
    std::list<std::uint32_t> order;  // the last used entry in front
    std::vector<std::list<std::uint32_t>::iterator> places(trace_.objects, order.end());
    std::uint64_t used = 0;
    std::size_t hits = 0;
    for (const std::uint32_t object : trace_.requests) {
      if (places[object] != order.end()) {
        ++hits;
        order.splice(order.begin(), order, places[object]);
        continue;
      }
      places[object] = order.insert(order.begin(), object);
      for (used += costs_[object]; used > bytes; order.pop_back()) {
        used -= costs_[order.back()];
        places[order.back()] = order.end();
      }
    }
    return percent(hits);
  }

 private:
  static std::string url_of(std::uint32_t object) {
    return "http://example.com/" + std::to_string(object);
  }
  static Ref<const Entry> response_to(Budget& budget, std::uint32_t object) {
    static const Request request;
    static const Response response("Cache-Control: max-age=3600\r\n");
    const auto entry = Entry::make(
        budget, Received{url_of(object), request.head.fields, response.head, kAtOnce, "us"});
    const std::uint32_t size = body_bytes(object);
    entry->body = {{{Block::make(budget, size), size}}, size};
    return entry;
  }
  double percent(std::size_t hits) const {
    return 100 * static_cast<double>(hits) / static_cast<double>(trace_.requests.size());
  }

  Budget unbounded_{std::uint64_t{1} << 40};
  bench::Trace trace_;
  std::vector<std::uint64_t> costs_;
  std::uint64_t footprint_ = 0;
};

}  // namespace proxy::cache
