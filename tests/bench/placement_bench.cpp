// What neighbours with small caches hold together: a simulation of a site with our store, its rule
// of eviction, and the rule which duplicates are stored (setting digest.duplicates). Each digest is
// exact, and as old as the option says. "alone": each cache evicts as if it had no neighbours.
#include <fmt/core.h>

#include <bit>
#include <deque>
#include <unordered_map>

#include "peers/site.hpp"
#include "proxy/cache/store.hpp"
#include "proxy/tiers/placement.hpp"
#include "tests/bench/arguments.hpp"
#include "tests/bench/zipf.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace {

using namespace proxy;

struct Shape {
  std::uint32_t proxies = 4;
  std::uint32_t urls = 60'000;
  std::uint32_t percent = 5;
  std::uint32_t body = 4096;
  std::uint64_t requests = 2'000'000;
  std::uint64_t age = 500;
  double alpha = 0.8;
  std::uint64_t seed = 1;
};

struct Resource {
  std::string url;
  digest::Key key;
  std::uint64_t claimants = 0;  // a bit for each proxy
};

std::vector<Resource> made_resources(std::uint32_t count) {
  std::vector<Resource> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto url = fmt::format("http://example.com/{}", i);
    const auto key = cache::key_of(url);
    all.push_back({std::move(url), key});
  }
  return all;
}

cache::Ref<const cache::Entry> response_to(cache::Budget& budget, const Resource& resource,
                                           std::uint32_t body) {
  cache::Stock stock;
  stock.url = resource.url;
  stock.body = body;
  return cache::entry_of(budget, stock);
}

// How a full cache evicts.
enum class Evicts { duplicates_first, as_if_alone };

struct Counts {
  std::uint64_t origin = 0;
  std::uint64_t local = 0;
  std::uint64_t neighbours = 0;
};

class Site {
 public:
  Site(const Shape& shape, config::Duplicates setting, Evicts evicts)
      : shape_(shape),
        setting_(setting),
        evicts_(evicts),
        resources_(made_resources(shape.urls)),
        zipf_(shape.urls, shape.alpha) {
    for (std::uint32_t i = 0; i < shape.urls; ++i) numbers_[resources_[i].key] = i;
    cache::Budget budget(std::uint64_t{1} << 40);
    cache::Store store(budget);
    const auto empty = budget.used();
    store.put(resources_[0].key, {response_to(budget, resources_[0], shape.body)}, cache::kStart);
    const auto bytes = (budget.used() - empty) * shape.urls / 100 * shape.percent;
    for (std::uint32_t i = 0; i < shape.proxies; ++i) proxies_.emplace_back(*this, i, bytes);
  }

  // Counts the second half of the requests.
  Counts run() {
    for (std::uint64_t i = 0; i < shape_.requests; ++i) {
      if (i % shape_.age == 0) exchange_digests();
      if (i == shape_.requests / 2) counts_ = {};
      ask(proxies_[random_() % shape_.proxies], resources_[zipf_(random_)]);
    }
    return counts_;
  }
  // The share of all responses held that another proxy holds, too.
  double held_twice() {
    exchange_digests();
    int all = 0;
    int twice = 0;
    for (const auto& resource : resources_) {
      const int holders = std::popcount(resource.claimants);
      all += holders;
      if (holders > 1) twice += holders;
    }
    return static_cast<double>(twice) / all;
  }

 private:
  struct Proxy {
    Proxy(const Site& site, std::uint32_t its_number, std::uint64_t bytes)
        : number(its_number),
          budget(bytes),
          store(budget, {.changes = std::size_t{1} << 20,
                         .kept_elsewhere =
                             [&site, this](const auto& claim) {
                               return site.is_kept_elsewhere(claim.key, *this);
                             }}),
          placement(budget, &store.totals()) {}

    const std::uint32_t number;
    cache::Budget budget;
    cache::Store store;
    tiers::Placement placement;
  };

  static std::uint64_t bit(const Proxy& proxy) { return std::uint64_t{1} << proxy.number; }

  // As PeerDirectory has it. The number of a proxy is its epoch.
  bool is_kept_elsewhere(const digest::Key& key, const Proxy& ours) const {
    if (evicts_ == Evicts::as_if_alone) return false;
    const auto& resource = resources_[numbers_.at(key)];
    const auto our_bid = peers::bid_for(key, ours.number);
    for (auto left = resource.claimants & ~bit(ours); left != 0; left &= left - 1) {
      const auto other = static_cast<peers::Epoch>(std::countr_zero(left));
      if (peers::bid_for(key, other) > our_bid) return true;
    }
    return false;
  }

  void exchange_digests() {
    std::vector<digest::KeyChange> changes;
    for (auto& proxy : proxies_) {
      changes.clear();
      (void)proxy.store.collect(cache::kStart, changes);
      for (const auto& change : changes) {
        auto& claimants = resources_[numbers_.at(change.key)].claimants;
        const bool is_added = change.what == digest::KeyChange::What::added;
        claimants = is_added ? claimants | bit(proxy) : claimants & ~bit(proxy);
      }
    }
  }

  bool found(const Proxy& proxy, const Resource& resource) const {
    return !!proxy.store.find(resource.key, resource.url, request_.head.fields).entry;
  }

  void ask(Proxy& proxy, const Resource& resource) {
    proxy.placement.record_asked(resource.key);
    if (found(proxy, resource)) {
      ++counts_.local;
      return;
    }
    if (ask_neighbours(proxy, resource)) {
      ++counts_.neighbours;
      const tiers::Offer offer{.takes = peers::FirstByte().with(std::chrono::milliseconds(1)),
                               .took = {},
                               .length = shape_.body};
      if (proxy.placement.leaves_there(setting_, resource.key, offer)) return;
    } else {
      ++counts_.origin;
    }
    proxy.store.put(resource.key, {response_to(proxy.budget, resource, shape_.body)},
                    cache::kStart);
  }

  bool ask_neighbours(const Proxy& proxy, const Resource& resource) {
    auto left = resource.claimants & ~bit(proxy);
    while (left != 0) {
      auto chosen = left;
      for (auto skip = random_() % static_cast<unsigned>(std::popcount(left)); skip > 0; --skip) {
        chosen &= chosen - 1;
      }
      const auto number = static_cast<std::size_t>(std::countr_zero(chosen));
      if (found(proxies_[number], resource)) return true;
      left &= ~bit(proxies_[number]);
    }
    return false;
  }

  const Shape shape_;
  const config::Duplicates setting_;
  const Evicts evicts_;
  std::vector<Resource> resources_;
  std::unordered_map<digest::Key, std::uint32_t, digest::KeyHash> numbers_;
  const bench::Zipf zipf_;
  std::mt19937_64 random_{shape_.seed};
  const cache::Request request_;
  std::deque<Proxy> proxies_;
  Counts counts_;
};

void report(const Shape& shape, const char* name, config::Duplicates setting,
            Evicts evicts = Evicts::duplicates_first) {
  Site site(shape, setting, evicts);
  const auto counts = site.run();
  const auto share = [&](std::uint64_t count) {
    return 2 * static_cast<double>(count) / static_cast<double>(shape.requests);
  };
  fmt::print("{:<16}{:>10.3f}{:>10.3f}{:>12.3f}{:>14.3f}\n", name, share(counts.origin),
             share(counts.local), share(counts.neighbours), site.held_twice());
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  const auto exit_code = bench::parse(
      argc, argv, "what neighbours with small caches hold together, by the setting duplicates",
      {
          {"--proxies", &shape.proxies, "at most 64"},
          {"--urls", &shape.urls},
          {"--percent", &shape.percent, "size of each cache, of the footprint of all URLs"},
          {"--body", &shape.body, "bytes of each response"},
          {"--requests", &shape.requests, "of all clients; the second half is counted"},
          {"--age", &shape.age, "requests between two exchanges of digests"},
          {"--alpha", &shape.alpha, "the exponent of Zipf's law"},
          {"--seed", &shape.seed},
      });
  if (exit_code) return *exit_code;
  fmt::print("{} proxies, each {} % of {} URLs\n", shape.proxies, shape.percent, shape.urls);
  fmt::print("{:<16}{:>10}{:>10}{:>12}{:>14}\n", "setting", "origin", "local", "neighbours",
             "held twice");
  report(shape, "always, alone", config::Duplicates::always, Evicts::as_if_alone);
  report(shape, "always", config::Duplicates::always);
  report(shape, "second", config::Duplicates::second);
  report(shape, "never", config::Duplicates::never);
}
