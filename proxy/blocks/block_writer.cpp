#include "proxy/blocks/block_writer.hpp"

#include <algorithm>

namespace proxy::blocks {

using net::Task;
using std::chrono::steady_clock;

namespace {

constexpr std::uint64_t kPiece = 64 * 1024;
constexpr std::chrono::seconds kLong{1};  // for a body to arrive

}  // namespace

BlockWriter::BlockWriter(FetchAccess& access, Into into, sources::Attempt& answer)
    : access_(access), into_(std::move(into)), answer_(answer) {
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
  if (into_.name)
    checked_.emplace(Checked{WholeCheck(access_, into_.key, *into_.run, *into_.name)});
}

BlockWriter::~BlockWriter() {
  into_.run->on_unwanted(nullptr);
}

Task<upstream::Outcome<void>> BlockWriter::write(std::chrono::milliseconds idle) {
  const auto& object = into_.run->object;
  const BlockRuns::IsStored is_stored = [&](std::uint32_t block) {
    return access_.cache().has_block(into_.key, *object, block);
  };
  for (;;) {
    const auto next = co_await access_.runs.next(into_.run, is_stored);
    if (!next.fill) break;
    const auto size = cache::bytes_of_block(next.block, object->body.size).size();
    if (checked_) checked_->whole.begin(next.block, next.fill->received());
    const auto written = co_await write_block(*next.fill, size, idle);
    if (!written) co_return written;
    // Before the block is stored: one that finds no memory because of the queue would be lost.
    co_await access_.cached().let_the_disk_catch_up(into_.patience);
    const auto settled = co_await settle(*next.fill, next.block);
    if (!settled) co_return settled;
    next.fill->finish();
    access_.runs.done(*into_.run);
    claim_part();
    if (next.block == into_.last) break;
    co_await net::asio::post(access_.executor(),
                             net::use_task);  // lets other connections run
  }
  co_return boost::system::in_place_value;
}

Task<upstream::Outcome<void>> BlockWriter::write_block(fill::Fill& fill, std::uint64_t size,
                                                       std::chrono::milliseconds idle) {
  const auto from = static_cast<std::size_t>(answer_.hierarchy());
  auto& bytes = access_.counters.upstream_bytes[from];
  under_way_ = &fill;
  size_ = size;
  upstream::Outcome<void> outcome = boost::system::in_place_value;
  cache::Ref<cache::Block> piece;
  std::uint32_t used = 0;
  for (std::uint64_t left = size - fill.received(); left > 0 && outcome;) {
    if (!piece || used == piece->capacity()) {
      piece = next_piece(left);
      used = 0;
    }
    const net::asio::mutable_buffer into(piece->data() + used, piece->capacity() - used);
    const auto begun = access_.clock().steady();
    const auto read = co_await answer_.fetch().body(into, idle);
    const auto waited = access_.clock().steady() - begun;
    if (!read || *read == 0) {
      outcome = read ? kBodyCut : read.error();
      break;
    }
    if (checked_) checked_->whole.add({piece->data() + used, *read});
    used += static_cast<std::uint32_t>(*read);
    left -= *read;
    received_ += *read;
    bytes.add(*read);
    if (checked_ && left == 0) {
      checked_->last = {piece, used};
    } else {
      fill.append(piece, used);
    }
    if (rate_) rate_->record(*read, waited);
    // Not for the last piece of a block, which is whole then and may as well be stored.
    if (left > 0 && rate_ && rate_->missed()) outcome = kBodyTooSlow;
    if (left > 0 && !worth_finishing(fill, size)) outcome = kBodyUnwanted;
  }
  under_way_ = nullptr;
  co_return outcome;
}

// Stores the block. If the object has a name, shows the last bytes of the block, too, unless that
// would make a whole that has another digest.
Task<upstream::Outcome<void>> BlockWriter::settle(fill::Fill& fill, std::uint32_t block) {
  using Verdict = WholeCheck::Verdict;
  if (!checked_) {
    keep(block, fill);
    co_return boost::system::in_place_value;
  }
  const auto turn = co_await checked_->whole.turn();
  const auto last = std::exchange(checked_->last, {});
  auto whole = fill.body();
  if (last.block) {
    if (!whole.slices.empty() && whole.slices.back().block == last.block) {
      whole.slices.replace_back(last);
    } else {
      whole.slices.push_back(last);
    }
  }
  const auto verdict = co_await checked_->whole.judge(std::move(whole));
  if (verdict == Verdict::unknown) co_return kBodyCut;
  if (verdict == Verdict::wrong || verdict == Verdict::other) {
    checked_->is_source_wrong = verdict == Verdict::other || is_of_all();
    const auto& object = *into_.run->object;
    auto& cache = access_.cache();
    const bool drops = verdict == Verdict::wrong && cache.may_have(into_.key, object);
    if (drops) cache.drop(into_.key, object.url());
    // If nobody knows which source is wrong, only the origin is asked for a while.
    if (!checked_->is_source_wrong) cache.fills.invalidate(into_.key, access_.clock().steady());
    into_.run->record_refusal();
    co_return sources::wrong_content(answer_, object.url());
  }
  if (last.block) fill.append(last.block, last.size);
  keep(block, fill);
  co_return boost::system::in_place_value;
}

bool BlockWriter::is_of_all() const {
  return received_ == into_.run->object->body.size;
}

sources::Finding BlockWriter::worth_of(const upstream::Outcome<void>& written) const {
  const auto finding = sources::worth_of(written);
  const bool is_its_fault = checked_ && checked_->is_source_wrong;
  if (finding.worth != sources::Worth::wrong || is_its_fault) return finding;
  return {sources::Worth::given_up};
}

// A stored block evicts others to make room. If none can be evicted, the bytes still pass through
// to the readers, charged to transit.
cache::Ref<cache::Block> BlockWriter::next_piece(std::uint64_t left) {
  const bool room = access_.cache().make_room();
  const auto size = static_cast<std::uint32_t>(std::min(left, kPiece));
  if (room) return cache::Block::make(access_.cache().budget, size);
  access_.cache().found_no_room.record(access_.clock().steady());
  const auto most = crowd::block_at(crowd::pressure_on(access_.transit));
  return cache::Block::make(access_.transit, std::min(size, most));
}

void BlockWriter::keep(std::uint32_t block, const fill::Fill& fill) {
  const auto& object = into_.run->object;
  if (access_.cache().has_block(into_.key, *object, block)) return;
  const auto hashes = access_.runs.hashes().find(object->object()->version);
  if (hashes) hashes->record_storing(block, into_.run->hash.link_of(block));
  (void)access_.cache().store_block(into_.key, object,
                                    {block, fill.body(), answer_.giver(), answer_.begun()});
}

// If the body takes long, our digest may claim the part that is here. Whoever ends the run has the
// claim reviewed again.
void BlockWriter::claim_part() {
  if (claimed_ || checked_ || access_.clock().steady() - begun_ < kLong) return;
  claimed_ = true;
  access_.cache().record_kept_blocks(into_.key, *into_.run->object);
}

bool BlockWriter::worth_finishing(const fill::Fill& fill, std::uint64_t size) const {
  return fill.received() >= size / 2 || into_.run->wanted();
}

}  // namespace proxy::blocks
