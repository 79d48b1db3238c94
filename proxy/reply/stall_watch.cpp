#include "proxy/reply/stall_watch.hpp"

namespace proxy {

namespace {

constexpr std::chrono::seconds kBetweenLooks{1};

}  // namespace

StallWatch::StallWatch(ResponseWriter& response, net::Deadlines& deadlines,
                       TransferSlots::Slot& slot)
    : Watched(deadlines), response_(response), deadlines_(deadlines), slot_(slot) {}

void StallWatch::begin() {
  since_ = deadlines_.now();
  by_then_.reset();
  expires_after(kBetweenLooks);
}

void StallWatch::end() {
  expires_never();
}

void StallWatch::on_expiry() {
  const auto now = deadlines_.now();
  const auto taken = response_.acknowledged();
  if (!taken) return;
  const auto* const bandwidth = response_.bandwidth();
  if (bandwidth && bandwidth->has_waited_since(now - kBetweenLooks)) since_ = now;
  if (!by_then_ || *taken - *by_then_ >= kLeast) {
    if (by_then_) since_ = now;
    by_then_ = taken;
  }
  if (now - since_ >= kPatience && slot_.is_wanted()) {
    response_.abort();
  } else {
    expires_after(kBetweenLooks);
  }
}

}  // namespace proxy
