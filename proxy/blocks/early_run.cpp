#include "proxy/blocks/early_run.hpp"

#include <utility>

namespace proxy {

std::optional<EarlyRun::Given> EarlyRun::go_to(std::uint32_t block, std::uint32_t last) {
  block_ = block;
  last_ = last;
  looked_ = false;
  std::optional<Given> given;
  if (taken_.block && first_ == block) {
    given.emplace(Given{std::exchange(taken_, {}), std::move(slot_)});
  }
  if (first_ <= block || first_ > last) drop();
  return given;
}

void EarlyRun::drop() {
  taken_ = {};
  slot_.release();
}

void EarlyRun::look_ahead(const BlockRuns::Use& in_use) {
  if (std::exchange(looked_, true) || block_ >= last_ || !starter_.may_begin()) return;
  const bool goes_on = in_use.run() && in_use.run()->ask(block_ + 1) == BlockRun::Asked::yes;
  if (taken_.use.run() && taken_.use.run()->declined()) {
    give_up();
    drop();
  }
  if (alone_ || taken_.use.run()) return;
  const auto first = begin_at(in_use, goes_on);
  if (!first || *first > last_ || starter_.is_stored(*first)) return;
  auto slot = runs_.slots().spare(client_);
  if (!slot) return;
  const BlockRuns::IsStored is_stored = [this](std::uint32_t block) {
    return starter_.is_stored(block);
  };
  taken_ = starter_.take(*first, last_, BlockRuns::Wanted::Begin::early, is_stored);
  if (taken_.block) slot_ = std::move(slot);
  first_ = *first;
  if (taken_.use.run() && pace_.starved()) taken_.use.run()->ask(*first + BlockRuns::kAhead);
}

std::optional<std::uint32_t> EarlyRun::begin_at(const BlockRuns::Use& in_use, bool goes_on) const {
  if (!goes_on) return block_ + 1;
  if (!pace_.starved()) return {};
  const auto end = in_use.run()->blocks().last;
  if (end < block_ + BlockRuns::kLead) return end + 1;
  return pace_.slow() ? std::optional(block_ + BlockRuns::kLead) : std::nullopt;
}

}  // namespace proxy
