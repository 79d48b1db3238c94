#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "proxy/cache/stored_name.hpp"
#include "proxy/http/text.hpp"
#include "proxy/inspect/live_parts.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;

// A walk over the stored responses: first those that only memory holds, then those on disk, in the
// order in which they were written. A response stored meanwhile may be missed, or visited twice.
class LiveWalk : public SlicedWalk {
 public:
  using Wanted = std::function<bool(std::string_view stored_as)>;

  // Visits only responses whose name is `wanted`.
  LiveWalk(const Live& live, Wanted wanted) : live_(live), wanted_(std::move(wanted)) {}

  bool next(machine::Clock& clock, std::string& out) final {
    const SliceLimit limit(clock, out);
    const auto now = clock.now();
    while (!limit.reached()) {
      if (visit_memory(now, out) || (live_.disk && visit_disk(now, out))) continue;
      write_end(out);
      return false;
    }
    write_progress(clock.steady(), out);
    return true;
  }

 protected:
  virtual void visit(const EntryFacts& facts, std::string_view stored_as, std::string& out) = 0;
  virtual void write_progress(machine::Clock::SteadyTime, std::string&) {}
  virtual void write_end(std::string& out) = 0;

  std::uint64_t unreadable_ = 0;  // records on disk that could not be read

 private:
  // Both return whether there may be more to visit in their tier.
  bool visit_memory(cache::Time now, std::string& out);
  bool visit_disk(cache::Time now, std::string& out);

  const Live live_;
  const LiveRelations relations_{live_};
  const Wanted wanted_;
  std::size_t shard_ = 0;          // the next shard of the memory
  std::vector<digest::Key> keys_;  // of the last shard, not yet visited
  std::optional<disk::Walk> walk_;
};

bool LiveWalk::visit_memory(cache::Time now, std::string& out) {
  constexpr std::size_t kAtOnce = 128;  // the shard is locked meanwhile
  if (keys_.empty()) {
    if (shard_ == cache::Store::kShards) return false;
    live_.memory.list(shard_++, keys_);
    return true;
  }
  // From the end, so that nothing is moved within the list.
  const auto some = std::span(keys_).last(std::min(keys_.size(), kAtOnce));
  std::vector<cache::Store::Response> held;
  live_.memory.look(shard_ - 1, some, held);
  keys_.resize(keys_.size() - some.size());
  for (const auto& one : held) {
    // The store holds the blocks of large responses as entries, which have no head of their own.
    const bool is_block = one.entry->head().empty();
    if (is_block || !wanted_(one.entry->url()) || relations_.on_disk(one)) continue;
    visit(relations_.facts_in_memory(one, now), one.entry->url(), out);
  }
  return true;
}

bool LiveWalk::visit_disk(cache::Time now, std::string& out) {
  auto& store = live_.disk->disk();
  // Begun after the memory, so that what moves from there to the disk meanwhile is not missed.
  if (!walk_) walk_.emplace(store.catalog().index, is_response);
  const auto step = walk_->next();
  if (!step) return false;
  const auto stored = store.open(step->key, step->place, disk::Wait::yes);
  if (!stored) {
    // A record that was replaced since the walk gathered it is missing, but not unreadable.
    unreadable_ += stored.error() == disk::Error::gone ? 0 : 1;
    return true;
  }
  const auto url = stored->url();
  // A record that a newer one has replaced is still in its segment.
  if (!wanted_(url) || !store.holds(step->key, url, step->place.at)) return true;
  auto facts = facts_of(*stored, relations_, now);
  if (!facts) return true;
  relations_.add_uses(*facts, url, *step);
  visit(*facts, url, out);
  return true;
}

class LiveList final : public LiveWalk {
 public:
  using LiveWalk::LiveWalk;

 private:
  void visit(const EntryFacts& facts, std::string_view stored_as, std::string& out) override {
    append(out, report_of(facts, stored_as));
  }
  void write_end(std::string& out) override {
    if (unreadable_ > 0) append(out, Report().add("unreadable", unreadable_));
  }
};

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

// A line that begins with `name`.
Report line_of(std::string_view name, Report::Value value, const Sum& sum) {
  Report line;
  line.add(name, std::move(value)).add("entries", sum.entries).add("bytes", sum.bytes);
  return line.add("hits", sum.hits);
}

// With the port, if the URL has one.
std::string_view host_in(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find('/'));
}

bool contains_word(std::string_view text, std::string_view lower_word) {
  const auto same = [](char a, char b) { return http::lower(a) == b; };
  return lower_word.empty() || std::search(text.begin(), text.end(), lower_word.begin(),
                                           lower_word.end(), same) != text.end();
}

class LiveSums final : public LiveWalk {
 public:
  using LiveWalk::LiveWalk;

 private:
  using Host = std::pair<std::string, Sum>;
  using Large = std::pair<EntryFacts, std::string>;

  static bool is_larger(const Large& a, const Large& b) {
    return a.first.held_bytes > b.first.held_bytes;
  }

  void visit(const EntryFacts& facts, std::string_view name, std::string&) override {
    const Sum one{1, facts.held_bytes, facts.hits.value_or(0)};
    all_.add(one);
    const auto host = host_in(cache::StoredName::decode(name).url);
    const auto known = hosts_.find(host);
    if (known != hosts_.end()) {
      known->second.add(one);
      // A client may make up any number of hosts, so their table is bounded.
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
    largest_.emplace_back(facts, name);
    std::push_heap(largest_.begin(), largest_.end(), is_larger);
    if (largest_.size() <= kLargest) return;
    std::pop_heap(largest_.begin(), largest_.end(), is_larger);
    largest_.pop_back();
  }

  void write_progress(machine::Clock::SteadyTime now, std::string& out) override {
    if (!told_) told_ = now;
    if (now - *told_ < kTells) return;
    told_ = now;
    append(out, Report().add("searched", all_.entries));
  }

  void write_end(std::string& out) override {
    std::vector<Host> hosts(hosts_.begin(), hosts_.end());
    const auto told = std::min(hosts.size(), kHostsTold);
    const auto rest = hosts.begin() + static_cast<std::ptrdiff_t>(told);
    // The order of the rest does not matter: it is one line.
    std::partial_sort(hosts.begin(), rest, hosts.end(),
                      [](const Host& a, const Host& b) { return a.second.bytes > b.second.bytes; });
    for (auto host = hosts.begin(); host != rest; ++host)
      append(out, line_of("host", host->first, host->second));
    Sum others = uncounted_;
    for (auto host = rest; host != hosts.end(); ++host) others.add(host->second);
    if (others.entries > 0)
      append(out, line_of("other_hosts", std::uint64_t{hosts.size() - told}, others));
    std::sort(largest_.begin(), largest_.end(), is_larger);
    for (const auto& [facts, name] : largest_) append(out, report_of(facts, name));
    append(out, line_of("hosts", std::uint64_t{hosts.size()}, all_));
  }

  Sum all_;
  Sum uncounted_;  // of hosts beyond kMostHosts
  std::map<std::string, Sum, std::less<>> hosts_;
  std::vector<Large> largest_;
  std::optional<machine::Clock::SteadyTime> told_;  // when the last line of progress was written
};

}  // namespace

std::unique_ptr<SlicedWalk> list_live(const Live& live, std::string prefix) {
  return std::make_unique<LiveList>(live, [prefix = std::move(prefix)](std::string_view name) {
    return cache::StoredName::decode(name).url.starts_with(prefix);
  });
}

std::unique_ptr<SlicedWalk> sum_live(const Live& live, std::string contains) {
  return std::make_unique<LiveSums>(live, [word = http::lower(contains)](std::string_view name) {
    return contains_word(cache::StoredName::decode(name).url, word);
  });
}

}  // namespace proxy::inspect
