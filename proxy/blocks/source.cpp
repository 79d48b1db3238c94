#include "proxy/blocks/source.hpp"

#include <utility>

#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/tiers.hpp"
#include "proxy/worker.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr int kMostEnds = 3;  // of runs that others' leaving has ended, for one block
constexpr int kMostLooks = 4;
constexpr Failure kNotHeld{Failure::Where::us, Failure::What::abandoned, {}};
constexpr Failure kOverload{Failure::Where::us, Failure::What::overload, {}};

}  // namespace

BlockSource::BlockSource(Worker& worker, Of of)
    : worker_(worker),
      of_(std::move(of)),
      is_held_([this](std::uint32_t block) {
        return has_block(worker_.shared, of_.key, *of_.object, block);
      }),
      may_ask_(of_.may_fetch && !cache::strong_validator(*of_.object).empty()) {}

void BlockSource::go_to(std::uint32_t block, std::uint32_t last) {
  const bool follows = ahead_.block && block == block_ + 1;
  block_ = block;
  last_ = last;
  given_ = position_ = 0;
  cuts_ = ends_ = 0;
  looked_ahead_ = false;
  held_.reset();
  reader_.reset();
  if (follows) use(std::move(ahead_));
  ahead_ = {};
}

// Whether it is read from a run now.
bool BlockSource::use(Runs::Taken taken) {
  if (!taken.block) return false;
  use_ = std::move(taken.use);
  reader_ = std::move(taken.block);
  position_ = 0;
  return true;
}

Runs::Taken BlockSource::take(std::uint32_t block) {
  auto& worker = worker_;
  auto taken = worker.shared.runs.take({of_.object, block, last_, may_ask_}, is_held_,
                                       worker.io.get_executor());
  if (taken.begun) {
    RunJob job{taken.use.run(), of_.key, std::make_unique<OwnedRequest>(of_.request)};
    start_run(worker, std::move(job));
  }
  return taken;
}

Task<Outcome<void>> BlockSource::acquire() {
  if (use_.run() && !worker_.shared.runs.ask(use_, block_)) use_ = {};
  for (int looks = 0; looks < kMostLooks; ++looks) {
    held_ = co_await block_held(worker_, of_.key, of_.object, block_);
    if (held_) break;
    if (!of_.may_fetch) co_return kNotHeld;
    auto taken = take(block_);
    if (use(std::move(taken))) break;
    if (!may_ask_ && !is_held_(block_)) co_return kNotHeld;
  }
  if (!held_ && !reader_) co_return kOverload;
  co_return boost::system::in_place_value;
}

// So that nobody waits for an answer between two runs.
void BlockSource::begin_what_follows() {
  if (std::exchange(looked_ahead_, true)) return;
  const auto after = block_ + 1;
  if (block_ >= last_ || !may_ask_ || is_held_(after)) return;
  if (use_.run() && worker_.shared.runs.ask(use_, after)) return;
  ahead_ = take(after);
}

Pieces BlockSource::rest_of_held() {
  Pieces pieces;
  std::uint64_t at = 0;
  for (const auto& slice : held_->body.slices) {
    const auto before = at;
    at += slice.size;
    if (at <= given_) continue;
    const auto skipped = static_cast<std::uint32_t>(given_ - before);
    pieces.push_back({slice.block, skipped, slice.size - skipped});
    given_ = at;
  }
  return pieces;
}

// A run begins each block anew: what was given already is passed over.
Task<Outcome<Pieces>> BlockSource::rest_of_reader() {
  Pieces fresh;
  while (fresh.empty()) {
    auto pieces = co_await reader_->next();
    if (!pieces || pieces->empty()) co_return pieces;
    for (auto& piece : *pieces) {
      const auto before = position_;
      position_ += piece.size;
      if (position_ <= given_) continue;
      const auto skipped = static_cast<std::uint32_t>(given_ - before);
      fresh.push_back({std::move(piece.block), piece.offset + skipped, piece.size - skipped});
      given_ = position_;
    }
  }
  co_return fresh;
}

bool BlockSource::may_try_again(const Failure& failure) {
  refused_ = use_.run() && use_.run()->refused();
  if (refused_ || !of_.may_fetch) return false;
  if (failure.what == Failure::What::abandoned) return ++ends_ <= kMostEnds;
  return given_ > 0 && ++cuts_ == 1;
}

Task<Outcome<Pieces>> BlockSource::next() {
  const auto size = cache::bytes_of_block(block_, of_.object->body.size).size();
  while (given_ < size) {
    if (!held_ && !reader_) {
      const auto acquired = co_await acquire();
      if (!acquired) co_return acquired.error();
    }
    begin_what_follows();
    if (held_) co_return rest_of_held();
    auto pieces = co_await rest_of_reader();
    if (pieces && !pieces->empty()) co_return pieces;
    const auto failure = pieces ? kOverload : pieces.error();
    reader_.reset();
    if (!may_try_again(failure)) co_return failure;
    use_ = {};
  }
  co_return Pieces{};
}

}  // namespace proxy
