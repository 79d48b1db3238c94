#include "proxy/server/partial_head.hpp"

#include <utility>

namespace proxy {

PartialHead::PartialHead(Worker& worker, SessionList::Item& session)
    : worker_(worker),
      session_(session),
      memory_(worker.process.head_bytes, &session.guest().share().head_bytes) {}

Unread PartialHead::held() const {
  return {.bytes = memory_.get(), .freed = memory_.get(), .since = begun_, .by_client = true};
}

void PartialHead::incomplete(std::size_t bytes, std::size_t memory) {
  memory_.set(memory);
  if (note(bytes) == ReceiptRate::Met::no) return session_.cut(Cut::slow);
  const auto most = worker_.policy()->settings.limits.heads.value;
  if (worker_.process.head_bytes > most) worker_.relief.cut_heads_everywhere();
}

ReceiptRate::Met PartialHead::note(std::size_t bytes) {
  const auto now = worker_.deadlines.now();
  if (!rate_) {
    const auto& settings = worker_.policy()->settings;
    rate_.emplace(settings.limits.least_rate.value, settings.timeouts.head / 2);
    begun_ = last_ = now;
    bytes_ = 0;
  }
  const auto more = bytes - std::exchange(bytes_, bytes);
  return rate_->note(more, now - std::exchange(last_, now));
}

}  // namespace proxy
