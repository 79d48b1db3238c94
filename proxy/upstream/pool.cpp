#include "proxy/upstream/pool.hpp"

#include <utility>

namespace proxy::upstream {

Pool::Pool(net::Deadlines& deadlines, PoolLimits limits)
    : Watched(deadlines), deadlines_(deadlines), limits_(limits) {}

std::unique_ptr<net::Stream> Pool::take(const Endpoint& endpoint) {
  const auto found = places_.find(endpoint);
  if (found == places_.end()) return nullptr;
  auto& places = found->second;
  std::unique_ptr<net::Stream> stream;
  while (!stream && !places.empty()) {
    auto newest = std::move(places.back()->stream);
    idle_.erase(places.back());
    places.pop_back();
    if (newest->quiet()) stream = std::move(newest);
  }
  if (places.empty()) places_.erase(found);
  return stream;
}

void Pool::give_back(const Endpoint& endpoint, std::unique_ptr<net::Stream> stream) {
  if (limits_.per_endpoint == 0 || limits_.in_all == 0) return;
  stream->expires_never();
  auto& places = places_[endpoint];
  auto idle = Idle{endpoint, std::move(stream), deadlines_.now() + limits_.idle};
  places.push_back(idle_.insert(idle_.end(), std::move(idle)));
  if (places.size() > limits_.per_endpoint) drop_oldest_of(endpoint);
  if (idle_.size() > limits_.in_all) drop_oldest_of(Endpoint(idle_.front().endpoint));
  if (idle_.size() == 1) watch_oldest();
}

// The oldest of all connections is also the oldest of its endpoint.
void Pool::drop_oldest_of(const Endpoint& endpoint) {
  const auto found = places_.find(endpoint);
  auto& places = found->second;
  idle_.erase(places.front());
  places.erase(places.begin());
  if (places.empty()) places_.erase(found);
}

void Pool::clear() {
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
