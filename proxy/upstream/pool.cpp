#include "proxy/upstream/pool.hpp"

#include <utility>

namespace proxy::upstream {

namespace {

constexpr std::size_t kMostUnused = 64;  // endpoints without a connection
constexpr std::size_t kMostSpare = 64;

}  // namespace

Pool::Pool(net::Deadlines& deadlines, PoolLimits limits)
    : Watched(deadlines), deadlines_(deadlines), limits_(limits) {}

Pool::Places::value_type* Pool::find(const Endpoint& endpoint) {
  if (last_ && last_->first == endpoint) return last_;
  const auto found = places_.find(endpoint);
  if (found == places_.end()) return nullptr;
  return last_ = &*found;
}

std::unique_ptr<net::Stream> Pool::take(const Endpoint& endpoint) {
  auto* const found = find(endpoint);
  if (!found) return nullptr;
  auto& places = found->second;
  std::unique_ptr<net::Stream> stream;
  // The newest first: the older ones may have been closed by the server meanwhile, and expire.
  while (!stream && !places.empty()) {
    auto newest = std::move(places.back()->stream);
    remove(places.back());
    places.pop_back();
    if (newest->quiet_so_far()) stream = std::move(newest);
  }
  return stream;
}

bool Pool::has(const Endpoint& endpoint) {
  const auto* const found = find(endpoint);
  return found && !found->second.empty();
}

void Pool::give_back(const Endpoint& endpoint, std::unique_ptr<net::Stream> stream) {
  if (limits_.per_endpoint == 0 || limits_.in_all == 0) return;
  stream->expires_never();
  // Clients name the endpoints, so those without a connection must not pile up.
  if (places_.size() > kMostUnused + limits_.in_all) forget_unused_endpoints();
  auto* const found = find(endpoint);
  auto& places = found ? found->second : places_[endpoint];
  places.push_back(place_last(endpoint, std::move(stream)));
  if (places.size() > limits_.per_endpoint) drop_oldest_of(endpoint);
  if (idle_.size() > limits_.in_all) drop_oldest_of(Endpoint(idle_.front().endpoint));
  if (idle_.size() == 1) watch_oldest();
}

Pool::Order::iterator Pool::place_last(const Endpoint& endpoint,
                                       std::unique_ptr<net::Stream> stream) {
  Idle idle{endpoint, std::move(stream), deadlines_.now() + limits_.idle};
  if (spare_.empty()) return idle_.insert(idle_.end(), std::move(idle));
  const auto place = spare_.begin();
  *place = std::move(idle);
  idle_.splice(idle_.end(), spare_, place);
  return place;
}

void Pool::remove(Order::iterator place) {
  place->stream.reset();
  if (spare_.size() < kMostSpare) {
    spare_.splice(spare_.begin(), idle_, place);
  } else {
    idle_.erase(place);
  }
}

void Pool::forget_unused_endpoints() {
  last_ = nullptr;
  std::erase_if(places_, [](const auto& of) { return of.second.empty(); });
}

// The oldest of all connections is also the oldest of its endpoint.
void Pool::drop_oldest_of(const Endpoint& endpoint) {
  auto& places = places_.find(endpoint)->second;
  remove(places.front());
  places.erase(places.begin());
}

void Pool::clear() {
  last_ = nullptr;
  places_.clear();
  idle_.clear();
  expires_never();
}

void Pool::watch_oldest() {
  expires_after(idle_.front().until - deadlines_.now());
}

void Pool::on_expiry() {
  while (!idle_.empty() && idle_.front().until <= deadlines_.now()) {
    drop_oldest_of(Endpoint(idle_.front().endpoint));
  }
  if (!idle_.empty()) watch_oldest();
}

}  // namespace proxy::upstream
