#include "tests/soak/world.hpp"

#include <algorithm>

namespace soak {

using support::Reply;
using support::Request;
using support::Response;

namespace {

// Ages are whole seconds at each hop, and a request takes its time.
constexpr std::chrono::seconds kSlack{6};
// Versions that may still be asked about; an hour has thousands.
constexpr std::size_t kRemembered = 64;

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// All places of all versions of all resources differ.
std::string bytes_of(std::size_t resource, std::uint64_t version, std::uint64_t first,
                     std::uint64_t size) {
  const auto seed = mixed(resource * 1'000'003 + version);
  std::string bytes;
  bytes.reserve(size + 16);
  for (auto word = first / 8; bytes.size() < size + first % 8; ++word) {
    const auto x = mixed(seed ^ word);
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  return bytes.substr(first % 8, size);
}

std::string tag_of(std::size_t resource, std::uint64_t version) {
  return '"' + std::to_string(resource) + '-' + std::to_string(version) + '"';
}

// First and last byte of "bytes=F-L" or "bytes F-L/S".
std::optional<std::pair<std::uint64_t, std::uint64_t>> span_in(const std::string& text) {
  const auto begin = text.find_first_of("0123456789");
  const auto dash = text.find('-', begin);
  if (begin == std::string::npos || dash == std::string::npos) return std::nullopt;
  return std::pair{std::stoull(text.substr(begin)), std::stoull(text.substr(dash + 1))};
}

}  // namespace

std::uint64_t World::size_of(std::size_t resource) {
  const auto random = mixed(resource);
  if (is_large(resource)) return (std::uint64_t{2} << 20) + random % (std::uint64_t{4} << 20);
  return 200 + random % (random % 16 == 0 ? 60'000 : 6'000);
}

Reply World::answer(const Request& request) const {
  const auto resource = static_cast<std::size_t>(std::stoul(request.path.substr(1)));
  const std::lock_guard lock(mutex_);
  if (failing_) return Reply(503);
  const auto tag = tag_of(resource, current(resource));
  const support::Fields fields{{"ETag", tag},
                               {"Date", support::http_date()},
                               {"Cache-Control", "max-age=" + std::to_string(kMaxAge.count())}};
  if (request.field("If-None-Match").find(tag) != std::string::npos) return Reply(304, fields);
  const auto size = size_of(resource);
  const bool whole = request.has("If-Range") && request.field("If-Range") != tag;
  const auto span = whole ? std::nullopt : span_in(request.field("Range"));
  if (!span) return Reply(200, fields).body(bytes_of(resource, current(resource), 0, size));
  const auto last = std::min(span->second, size - 1);
  return Reply(206, fields)
      .with("Content-Range", "bytes " + std::to_string(span->first) + '-' + std::to_string(last) +
                                 '/' + std::to_string(size))
      .body(bytes_of(resource, current(resource), span->first, last - span->first + 1));
}

void World::change(std::size_t resource) {
  const std::lock_guard lock(mutex_);
  auto& history = history_[resource];
  history.emplace_back(history.back().first + 1, Clock::now());
  if (history.size() > kRemembered) history.erase(history.begin());
}

void World::purged(std::size_t proxy, std::size_t resource) {
  const std::lock_guard lock(mutex_);
  purges_.insert_or_assign({proxy, resource}, Purge{current(resource), Clock::now()});
}

void World::fail(bool is_so) {
  const std::lock_guard lock(mutex_);
  failing_ = is_so;
  last_failure_ = Clock::now();
}

bool World::failed_since(Clock::time_point time) const {
  const std::lock_guard lock(mutex_);
  return failing_ || last_failure_ >= time;
}

World::Version World::current(std::size_t resource) const {
  return history_[resource].back().first;
}

std::string World::fault_of(const Response& response, std::size_t proxy, std::size_t resource,
                            Clock::time_point asked) const {
  const auto tag = response.field("ETag");
  const auto dash = tag.find('-');
  // The origin has no blocks of an earlier version any more.
  if (!response.whole) return changed_since(resource, asked - kMaxAge) ? "" : "is cut";
  if (dash == std::string::npos) return "has no tag of this origin";
  const Version version = std::stoull(tag.substr(dash + 1));
  if (tag != tag_of(resource, version)) return "belongs to another URL: " + tag;
  const auto size = size_of(resource);
  std::pair<std::uint64_t, std::uint64_t> span{0, size - 1};
  if (response.status == 206) {
    const auto said = span_in(response.field("Content-Range"));
    if (!said) return "is a part that states no range";
    span = *said;
  }
  const bool right = span.second < size && response.body == bytes_of(resource, version, span.first,
                                                                     span.second - span.first + 1);
  return right ? age_fault(version, proxy, resource, asked) : "has other bytes than version " + tag;
}

bool World::changed_since(std::size_t resource, Clock::time_point time) const {
  const std::lock_guard lock(mutex_);
  return is_large(resource) && history_[resource].back().second >= time;
}

std::string World::age_fault(Version version, std::size_t proxy, std::size_t resource,
                             Clock::time_point asked) const {
  if (failed_since(asked - kMaxAge)) return {};  // a stale response may stand in
  const std::lock_guard lock(mutex_);
  const auto purge = purges_.find({proxy, resource});
  if (purge != purges_.end() && purge->second.at < asked && version < purge->second.least) {
    return "was purged before";
  }
  const auto& history = history_[resource];
  const auto next = std::upper_bound(history.begin(), history.end(), version,
                                     [](Version v, const auto& one) { return v < one.first; });
  if (next == history.end()) return {};
  return next->second + kMaxAge + kSlack < asked ? "is stale" : "";
}

}  // namespace soak
