#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "proxy/cache/stored_name.hpp"
#include "proxy/http/text.hpp"
#include "proxy/inspect/live.hpp"
#include "proxy/inspect/live_walk.hpp"
#include "proxy/inspect/slice.hpp"

namespace proxy::inspect {
namespace {

constexpr std::size_t kHostsTold = 200;
constexpr std::size_t kLargest = 200;
constexpr std::size_t kMostHosts = 20'000;  // summed apart; others count as one
constexpr std::chrono::seconds kTells{1};

struct Sum {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;

  void add(const Sum& other) {
    entries += other.entries;
    bytes += other.bytes;
    hits += other.hits;
  }
};

Report& add_sum(Report& line, const Sum& sum) {
  return line.add("entries", sum.entries).add("bytes", sum.bytes).add("hits", sum.hits);
}

// With the port, if the URL has one.
std::string_view host_in(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find('/'));
}

bool contains_word(std::string_view text, std::string_view lower_word) {
  const auto same = [](char a, char b) { return http::lower(a) == b; };
  return std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(), same) !=
             text.end() ||
         lower_word.empty();
}

class LiveSums final : public Slices {
 public:
  LiveSums(const Live& live, const std::string& contains)
      : walk_(live, [word = http::lower(contains)](std::string_view name) {
          return contains_word(cache::url_in(name), word);
        }) {}

  bool next(cache::Time now, std::string& out) override {
    const SliceLimit limit(out);
    const auto sum = [this](const EntryFacts& facts, std::string_view name) { add(facts, name); };
    while (!limit.reached()) {
      if (walk_.step(now, sum)) continue;
      tell_all(out);
      return false;
    }
    tell_progress(out);
    return true;
  }

 private:
  using Host = std::pair<std::string, Sum>;

  void add(const EntryFacts& facts, std::string_view name) {
    const Sum one{1, facts.held_bytes, facts.hits.value_or(0)};
    all_.add(one);
    const auto host = host_in(cache::url_in(name));
    const auto known = hosts_.find(host);
    if (known != hosts_.end()) {
      known->second.add(one);
    } else if (hosts_.size() < kMostHosts) {
      hosts_.emplace(host, one);
    } else {
      uncounted_.add(one);
    }
    keep_if_large(facts, name);
  }

  // The smallest one is at the front of the heap.
  void keep_if_large(const EntryFacts& facts, std::string_view name) {
    if (largest_.size() == kLargest && facts.held_bytes <= largest_.front().first.held_bytes)
      return;
    const auto is_larger = [](const auto& a, const auto& b) {
      return a.first.held_bytes > b.first.held_bytes;
    };
    largest_.emplace_back(facts, name);
    std::push_heap(largest_.begin(), largest_.end(), is_larger);
    if (largest_.size() <= kLargest) return;
    std::pop_heap(largest_.begin(), largest_.end(), is_larger);
    largest_.pop_back();
  }

  void tell_progress(std::string& out) {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < kTells) return;
    told_ = now;
    append(out, Report().add("searched", all_.entries));
  }

  void tell_all(std::string& out) {
    std::vector<Host> hosts(hosts_.begin(), hosts_.end());
    const auto told = std::min(hosts.size(), kHostsTold);
    const auto rest = hosts.begin() + static_cast<std::ptrdiff_t>(told);
    std::partial_sort(hosts.begin(), rest, hosts.end(),
                      [](const Host& a, const Host& b) { return a.second.bytes > b.second.bytes; });
    for (auto host = hosts.begin(); host != rest; ++host) {
      Report line;
      line.add("host", host->first);
      append(out, add_sum(line, host->second));
    }
    tell_others(out, {rest, hosts.end()});
    std::sort(largest_.begin(), largest_.end(),
              [](const auto& a, const auto& b) { return a.first.held_bytes > b.first.held_bytes; });
    for (const auto& [facts, name] : largest_) append(out, report_of(facts, name));
    Report line;
    line.add("hosts", std::uint64_t{hosts.size()});
    append(out, add_sum(line, all_));
  }

  void tell_others(std::string& out, std::span<const Host> hosts) const {
    Sum others = uncounted_;
    for (const auto& host : hosts) others.add(host.second);
    if (others.entries == 0) return;
    Report line;
    line.add("other_hosts", std::uint64_t{hosts.size()});
    append(out, add_sum(line, others));
  }

  LiveWalk walk_;
  Sum all_;
  Sum uncounted_;  // of hosts beyond kMostHosts
  std::map<std::string, Sum, std::less<>> hosts_;
  std::vector<std::pair<EntryFacts, std::string>> largest_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<Slices> sum_live(const Live& live, std::string contains) {
  return std::make_unique<LiveSums>(live, contains);
}

}  // namespace proxy::inspect
