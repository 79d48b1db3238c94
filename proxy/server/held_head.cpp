#include "proxy/server/held_head.hpp"

#include <utility>

namespace proxy::server {
namespace {

// A request keeps its head's fields for itself, and writes another head for the origin.
constexpr std::size_t kCopies = 2;

}  // namespace

HeldHead::HeldHead(Worker& worker, crowd::SessionList::Item& session)
    : worker_(worker),
      session_(session),
      memory_(worker.shared.crowd.head_bytes, &session.guest().share().head_bytes) {}

void HeldHead::begin() {
  rate_.reset();
  whole_ = false;
}

void HeldHead::end() {
  memory_.set(0);
  leaving_.set(0);
}

void HeldHead::leave() {
  leaving_.set(memory_.get());
  memory_.set(0);
}

crowd::Unread HeldHead::held() const {
  const auto bytes = memory_.get();
  return {.bytes = bytes, .freed = bytes, .since = begun_, .by_client = !whole_};
}

void HeldHead::incomplete(std::size_t bytes, std::size_t memory) {
  memory_.set(memory);
  if (record(bytes) == crowd::ReceiptRate::Met::no) return session_.cut(observe::Cut::slow);
  keep_the_limit();
}

// An earlier head may have left a large buffer, which counts even if this head is small.
void HeldHead::arrived(std::size_t bytes, std::size_t memory) {
  if (bytes < kSmall && memory <= net::BufferPool::kSize) return end();
  if (!rate_) begun_ = worker_.deadlines.now();
  whole_ = true;
  memory_.set(memory + kCopies * bytes);
  keep_the_limit();
  const auto& shared = worker_.shared;
  const auto most = worker_.policy()->settings.limits.heads.value;
  // Those that were cut hold their memory until they end. At twice the limit not even a head that
  // just came may stay.
  if (shared.crowd.head_bytes + shared.crowd.leaving_heads > 2 * most)
    session_.cut(observe::Cut::heads);
}

void HeldHead::keep_the_limit() {
  const auto most = worker_.policy()->settings.limits.heads.value;
  if (worker_.shared.crowd.head_bytes > most) worker_.crowd.relief.cut_heads_everywhere();
}

crowd::ReceiptRate::Met HeldHead::record(std::size_t bytes) {
  const auto now = worker_.deadlines.now();
  if (!rate_) {
    const auto& settings = worker_.policy()->settings;
    rate_.emplace(settings.limits.least_rate.value, settings.timeouts.head / 2);
    begun_ = last_ = now;
    bytes_ = 0;
  }
  const auto more = bytes - std::exchange(bytes_, bytes);
  return rate_->record(more, now - std::exchange(last_, now));
}

}  // namespace proxy::server
