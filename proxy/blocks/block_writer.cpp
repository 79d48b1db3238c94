#include "proxy/blocks/block_writer.hpp"

#include <algorithm>

#include "proxy/tiers/object_blocks.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

constexpr std::uint64_t kPiece = 64 * 1024;
constexpr std::chrono::seconds kLong{1};  // for a body to arrive
constexpr Failure kCut{Failure::Where::upstream, Failure::What::cut, {}};
constexpr Failure kTooSlow{Failure::Where::upstream, Failure::What::timed_out, {}};
constexpr Failure kUnwanted{Failure::Where::us, Failure::What::abandoned, {}};

}  // namespace

BlockWriter::BlockWriter(Worker& worker, Into into, Attempt& answer)
    : worker_(worker), into_(std::move(into)), answer_(answer) {
  // The hook is posted, so it may be called after the writer was destroyed.
  const auto look = [self = std::weak_ptr<BlockWriter*>(self_)] {
    const auto alive = self.lock();
    if (!alive) return;
    auto& writer = **alive;
    const bool waits = writer.under_way_ != nullptr;
    if (!waits || writer.worth_finishing(*writer.under_way_, writer.size_)) return;
    writer.answer_.abandon();
  };
  into_.run->on_unwanted(look);
}

BlockWriter::~BlockWriter() {
  into_.run->on_unwanted(nullptr);
}

Task<Outcome<void>> BlockWriter::write(std::chrono::milliseconds idle) {
  auto& process = worker_.process;
  const auto& object = into_.run->object;
  const BlockRuns::IsStored is_stored = [&](std::uint32_t block) {
    return has_block(process.cache, into_.key, *object, block);
  };
  for (;;) {
    const auto next = co_await process.runs.next(into_.run, is_stored);
    if (!next.fill) break;
    const auto size = cache::bytes_of_block(next.block, object->body.size).size();
    const auto written = co_await write_block(*next.fill, size, idle);
    if (!written) co_return written;
    co_await let_the_disk_catch_up(worker_.cache, into_.patience);
    keep(next.block, *next.fill);
    next.fill->finish();
    process.runs.done(*into_.run);
    claim_part();
    if (next.block == into_.last) break;
    co_await net::asio::post(worker_.io.get_executor(),
                             net::use_task);  // lets other connections run
  }
  co_return boost::system::in_place_value;
}

Task<Outcome<void>> BlockWriter::write_block(Fill& fill, std::uint64_t size,
                                             std::chrono::milliseconds idle) {
  const auto from = static_cast<std::size_t>(answer_.hierarchy());
  auto& bytes = worker_.counters.upstream_bytes[from];
  under_way_ = &fill;
  size_ = size;
  Outcome<void> outcome = boost::system::in_place_value;
  cache::Ref<cache::Block> piece;
  std::uint32_t used = 0;
  for (std::uint64_t left = size - fill.received(); left > 0 && outcome;) {
    if (!piece || used == piece->capacity()) {
      piece = next_piece(left);
      used = 0;
    }
    const net::asio::mutable_buffer into(piece->data() + used, piece->capacity() - used);
    const auto begun = steady_clock::now();
    const auto read = co_await answer_.fetch().body(into, idle);
    const auto waited = steady_clock::now() - begun;
    if (!read || *read == 0) {
      outcome = read ? kCut : read.error();
      break;
    }
    used += static_cast<std::uint32_t>(*read);
    left -= *read;
    received_ += *read;
    bytes.add(*read);
    fill.append(piece, used);
    if (rate_) rate_->note(*read, waited);
    if (left > 0 && rate_ && rate_->missed()) outcome = kTooSlow;
    if (left > 0 && !worth_finishing(fill, size)) outcome = kUnwanted;
  }
  under_way_ = nullptr;
  co_return outcome;
}

// A stored block evicts others to make room. If none can be evicted, the bytes still pass through
// to the readers, charged to transit.
cache::Ref<cache::Block> BlockWriter::next_piece(std::uint64_t left) {
  auto& process = worker_.process;
  const bool room = !process.cache.budget.over() || process.cache.store.make_room();
  const auto size = static_cast<std::uint32_t>(std::min(left, kPiece));
  if (room) return cache::Block::make(process.cache.budget, size);
  process.cache.found_no_room.note(steady_clock::now());
  const auto most = block_at(pressure_on(process.transit));
  return cache::Block::make(process.transit, std::min(size, most));
}

void BlockWriter::keep(std::uint32_t block, const Fill& fill) {
  auto& process = worker_.process;
  const auto& object = into_.run->object;
  if (has_block(process.cache, into_.key, *object, block)) return;
  (void)keep_block(process.cache, into_.key, object,
                   {block, fill.body(), answer_.giver(), answer_.begun()});
}

// If the body takes long, our digest may claim the part that is here. Whoever ends the run has the
// claim reviewed again.
void BlockWriter::claim_part() {
  if (claimed_ || steady_clock::now() - begun_ < kLong) return;
  claimed_ = true;
  note_kept_blocks(worker_.process.cache, into_.key, *into_.run->object);
}

bool BlockWriter::worth_finishing(const Fill& fill, std::uint64_t size) const {
  return fill.received() >= size / 2 || into_.run->wanted();
}

}  // namespace proxy
