#include "proxy/upstream/under_way.hpp"

#include <utility>

#include "proxy/upstream/origin_traffic.hpp"

namespace proxy::upstream {

std::string_view word(Awaited what) {
  switch (what) {
    case Awaited::nothing:
      break;
    case Awaited::name:
      return "name";
    case Awaited::connection:
      return "connection";
    case Awaited::first_byte:
      return "first-byte";
    case Awaited::body:
      return "body";
  }
  return "nothing";
}

void UnderWay::turn_to(const Endpoint& origin, const Endpoint& server, const Parent* through,
                       Clock::time_point now) {
  await(Awaited::nothing, now);
  const bool is_counted = std::exchange(is_open_, true) && origin_ == &origin;
  if (is_counted && server_ == &server) return;
  const threads::MutexLock lock(at_.mutex_);
  origin_ = &origin;
  server_ = &server;
  through_ = through;
  if (!is_linked()) at_.under_way_.push_back(*this);
  if (of_neighbour_ || is_counted) return;
  auto& record = at_.record_of(origin, now);
  record.asked = now;
  ++record.at(now).requests;
}

void UnderWay::answered(unsigned status, Clock::time_point now) {
  await(Awaited::nothing);
  is_open_ = false;
  if (of_neighbour_) return;
  const auto took = now - since_.load(std::memory_order_relaxed);
  const threads::MutexLock lock(at_.mutex_);
  auto& record = at_.record_of(*origin_, now);
  record.answered = now;
  auto& sums = record.at(now);
  sums.first_bytes.add(std::chrono::duration_cast<FirstBytes::Time>(took));
  if (status >= 500) ++sums.errors;
}

void UnderWay::failed(Failure::What why, Clock::time_point now) {
  await(Awaited::nothing);
  is_open_ = false;
  if (of_neighbour_ || !origin_) return;
  if (!is_of_origin(why) && why != Failure::What::dns) return;
  const threads::MutexLock lock(at_.mutex_);
  ++at_.record_of(*origin_, now).at(now).failures[static_cast<std::size_t>(why)];
}

void UnderWay::end() {
  if (!origin_) return;
  const auto why = awaited() == Awaited::name ? Failure::What::dns : Failure::What::abandoned;
  await(Awaited::nothing);
  const auto since = since_.load(std::memory_order_relaxed);
  const auto now = is_open_ ? Clock::now() : since;
  const bool is_given_up = std::exchange(is_open_, false) && now - since >= kPatience;
  const auto bytes = bytes_.load(std::memory_order_relaxed);
  if (!is_linked() && bytes == 0) return;
  const threads::MutexLock lock(at_.mutex_);
  if (is_linked()) at_.under_way_.erase(at_.under_way_.iterator_to(*this));
  if (of_neighbour_ || (bytes == 0 && !is_given_up)) return;
  auto& sums = at_.record_of(*origin_, now).at(now);
  sums.bytes += bytes;
  bytes_.store(0, std::memory_order_relaxed);
  if (is_given_up) ++sums.failures[static_cast<std::size_t>(why)];
}

}  // namespace proxy::upstream
