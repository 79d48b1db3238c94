#include "proxy/blocks/run_starter.hpp"

#include <utility>

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/partial.hpp"

namespace proxy {

RunStarter::RunStarter(FetchAccess& access, const ObjectRequest& of)
    : access_(access),
      of_(of),
      patience_(std::make_shared<DiskPatience>(access.clock().steady())) {}

bool RunStarter::may_begin() const {
  return of_.may_fetch && !of_.object->range() && !cache::strong_validator(*of_.object).empty();
}

bool RunStarter::is_stored(std::uint32_t block) const {
  return has_block(access_.cache(), of_.key, *of_.object, block);
}

BlockRuns::Taken RunStarter::take(std::uint32_t block, std::uint32_t last,
                                  BlockRuns::Wanted::Begin begin,
                                  const BlockRuns::IsStored& is_stored) const {
  BlockRuns::Wanted wanted{of_.object, block, last, begin};
  if (!may_begin()) wanted.begin = BlockRuns::Wanted::Begin::no;
  auto taken = access_.runs.take(wanted, is_stored, access_.executor());
  if (taken.begun) {
    RunJob job{taken.use.run(), of_.key, std::make_unique<OwnedRequest>(of_.request), patience_};
    start_run(access_, std::move(job));
  }
  return taken;
}

std::optional<RunStarter::Early> RunStarter::go_to(std::uint32_t block, std::uint32_t last) {
  block_ = block;
  last_ = last;
  looked_ = false;
  std::optional<Early> given;
  if (early_.run.block && first_ == block) given = std::exchange(early_, {});
  if (first_ <= block || first_ > last) drop_early();
  return given;
}

void RunStarter::look_ahead(const BlockRuns::Use& in_use) {
  if (std::exchange(looked_, true) || block_ >= last_ || !may_begin()) return;
  const bool goes_on = in_use.run() && in_use.run()->ask(block_ + 1) == BlockRun::Asked::yes;
  const auto& early = early_.run.use.run();
  if (early && early->declined()) {
    give_up();
    drop_early();
  }
  if (alone_ || early) return;
  const auto first = goes_on ? first_beside(*in_use.run()) : std::optional(block_ + 1);
  if (!first || *first > last_ || is_stored(*first)) return;
  auto slot = access_.runs.slots().spare(of_.client);
  if (!slot) return;
  const BlockRuns::IsStored stored = [this](std::uint32_t block) { return is_stored(block); };
  early_.run = take(*first, last_, BlockRuns::Wanted::Begin::early, stored);
  if (early_.run.block) early_.slot = std::move(slot);
  first_ = *first;
  // A starved client has read the block in hand long before the run would go on by itself.
  if (early && pace_.starved()) early->ask(*first + BlockRuns::kAhead);
}

// Where an early run begins beside the run in use, which supplies the next block; nothing: nowhere.
std::optional<std::uint32_t> RunStarter::first_beside(const BlockRun& in_use) const {
  if (!pace_.starved()) return {};
  const auto end = in_use.blocks().last;
  if (end < block_ + BlockRuns::kLead) return end + 1;
  return pace_.slow() ? std::optional(block_ + BlockRuns::kLead) : std::nullopt;
}

}  // namespace proxy
