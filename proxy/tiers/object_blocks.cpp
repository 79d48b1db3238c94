#include "proxy/tiers/object_blocks.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "proxy/cache/combine.hpp"
#include "proxy/tiers/read_in_time.hpp"

namespace proxy::tiers {

using net::Task;
namespace disk = cache::disk;

namespace {

using BlockEntry = cache::Ref<const cache::Entry>;

constexpr std::uint64_t kMostUnwritten = std::uint64_t{8} << 20;
constexpr std::chrono::milliseconds kUntilNextTry{50};
constexpr std::chrono::seconds kLongestBusy{5};

// The most bytes that may wait to be written: half of the disk's queue, or less.
std::uint64_t most_unwritten(std::uint64_t memory) {
  const auto few = std::min<std::uint64_t>(2 * cache::kBlockBytes, memory / 8);
  return std::min(kMostUnwritten, std::max(memory / 16, few));
}

struct WantedBlock {
  digest::Key url_key;
  cache::Ref<const cache::Entry> object;
  std::uint32_t number;

  digest::Key key() const { return disk::block_key(url_key, object->object()->version, number); }
};

disk::Result<BlockEntry> read(Tiers& tiers, const WantedBlock& wanted, disk::Wait wait) {
  return tiers.disk->blocks().read(wanted.url_key, wanted.number, *wanted.object, tiers.store,
                                   wait);
}

// Reads on a thread that may wait for the disk, and again while the disk is busy: a stored block
// must not be fetched from the origin only because many others are being read.
Task<disk::Result<BlockEntry>> read_waiting(Reader& reader, WantedBlock wanted) {
  const auto& clock = reader.tiers.clock;
  const auto until = clock.steady() + kLongestBusy;
  for (;;) {
    std::function<disk::Result<BlockEntry>()> reading = [&tiers = reader.tiers, wanted] {
      return read(tiers, wanted, disk::Wait::yes);
    };
    auto block = co_await read_in_time<BlockEntry>(reader, std::move(reading));
    const bool is_busy = !block && block.error() == disk::Error::busy;
    if (!is_busy || clock.steady() >= until) co_return block;
    net::Timer timer(reader.executor, kUntilNextTry);
    co_await timer.async_wait(net::as_result);
  }
}

// Whether everything that the giver gave was purged since `since`.
bool is_distrusted(Tiers& tiers, const WantedBlock& block, cache::Giver giver, AskedAt since) {
  return giver.tag != 0 &&
         tiers.fills.outdated(block.url_key, block.object->url(), since, giver.tag);
}

void warn_of_damage(const WantedBlock& block) {
  spdlog::warn("block {} of {} on disk is damaged and was dropped: if this recurs, test the disk",
               block.number, block.object->url());
}

}  // namespace

bool Cache::may_be_kept_in_blocks(std::uint64_t length) const {
  if (!tiers_.disk || !tiers_.disk->blocks().fit() || length == 0) return false;
  return length <= std::min(tiers_.max_object.load(), cache::kLargestObject);
}

bool Cache::may_have(const digest::Key& key, const cache::Entry& object) const {
  const auto stored = in_memory(key, object.url(), {}).entry;
  if (stored) return stored->object() == object.object();
  return tiers_.store.holds(key) || (tiers_.disk && tiers_.disk->disk().may_hold(key));
}

bool Cache::has_block(const digest::Key& key, const cache::Entry& object,
                      std::uint32_t number) const {
  const auto block = disk::block_key(key, object.object()->version, number);
  return tiers_.store.holds(block) || (tiers_.disk && tiers_.disk->has_block(block));
}

Task<StoredBlock> CacheAccess::read_block(digest::Key key, cache::Ref<const cache::Entry> object,
                                          std::uint32_t number, AfterRead then) {
  auto& tiers = reader_.tiers;
  const auto begun = tiers.clock.steady();
  const WantedBlock wanted{key, std::move(object), number};
  const auto block_key = wanted.key();
  const auto& url = wanted.object->url();
  StoredBlock stored{tiers.store.find(block_key, url, {}).entry};
  if (!stored.block && tiers.disk) stored.block = tiers.disk->blocks().unwritten(block_key);
  if (stored.block || !tiers.disk || tiers.disk->hangs()) co_return stored;
  std::optional<cache::Readings::ReadRight> turn;  // until memory has the block
  auto block = read(tiers, wanted, disk::Wait::no);
  if (!block && block.error() == disk::Error::would_block) {
    const auto over = std::make_shared<net::Wakeup>(reader_.executor);
    turn.emplace(tiers.disk->readings().begin(block_key, [over] { over->notify(); }));
    if (!*turn) {
      co_await over->wait();
      stored.block = tiers.store.find(block_key, url, {}).entry;
      if (stored.block) co_return stored;
    }
    block = co_await read_waiting(reader_, wanted);
  }
  if (!block && block.error() == disk::Error::corrupt) warn_of_damage(wanted);
  if (!block || !*block) co_return stored;
  const bool adopts = then == AfterRead::adopt;
  stored.block = adopts ? tiers.store.adopt(block_key, {*block}, tiers.clock.now()).entry : *block;
  stored.from_disk = true;
  if (is_distrusted(tiers, wanted, stored.block->giver(), begun)) {
    if (adopts) tiers.store.drop(block_key, *stored.block);
    co_return StoredBlock{};
  }
  co_return stored;
}

Task<std::shared_ptr<FileBody>> CacheAccess::block_in_file(digest::Key key,
                                                           cache::Ref<const cache::Entry> object,
                                                           std::uint32_t number) {
  auto& tiers = reader_.tiers;
  const auto begun = tiers.clock.steady();
  const WantedBlock wanted{key, std::move(object), number};
  const auto block_key = wanted.key();
  if (!tiers.disk || tiers.store.holds(block_key)) co_return nullptr;
  auto& blocks = tiers.disk->blocks();
  if (blocks.unwritten(block_key) || !tiers.disk->has_block(block_key)) co_return nullptr;
  auto found = blocks.in_file(key, number, *wanted.object);
  if (!found && found.error() == disk::Error::corrupt) warn_of_damage(wanted);
  if (!found || !*found || (*found)->body.size < cache::EntryReader::kLeftFrom) co_return nullptr;
  const auto giver = (*found)->giver;
  auto body = FileBody::of(tiers, std::move((*found)->body));
  if (!body) co_return nullptr;
  const bool may = co_await may_be_sent(reader_, body);
  const auto& url = wanted.object->url();
  const bool is_there = tiers.disk->disk().holds(block_key, url, body->stored().front);
  if (!may || !is_there || is_distrusted(tiers, wanted, giver, begun)) co_return nullptr;
  co_return body;
}

// A purge is noted first, and clears memory and disk afterwards. store_block() looks for that note
// again after it has stored the block, so that a block stored in between is dropped by one of the
// two.
BlockKept Cache::store_block(const digest::Key& key, const cache::Ref<const cache::Entry>& object,
                             NewBlock block) {
  const bool on_disk = tiers_.disk && tiers_.disk->disk().may_hold(key);
  if (!on_disk && !tiers_.store.holds(key)) return BlockKept::no;  // it was purged
  const WantedBlock that{key, object, block.number};
  const auto distrusted = [&, giver = block.giver, asked = block.asked] {
    return is_distrusted(tiers_, that, giver, asked);
  };
  if (distrusted()) return BlockKept::no;
  const auto kept = store_block_of_new(key, object, std::move(block));
  if (!distrusted()) return kept;
  if (tiers_.disk) tiers_.disk->disk().purge(that.key(), {});
  tiers_.store.remove(that.key());
  return BlockKept::no;
}

BlockKept Cache::store_block_of_new(const digest::Key& key,
                                    const cache::Ref<const cache::Entry>& object,
                                    NewBlock arrived) {
  const auto number = arrived.number;
  const auto block =
      cache::block_entry(tiers_.budget, *object, std::move(arrived.bytes), arrived.giver);
  const auto block_key = disk::block_key(key, object->object()->version, number);
  const auto stored = tiers_.store.put(block_key, {block}, tiers_.clock.now());
  using Taken = cache::DiskBlocks::Taken;
  const bool written =
      tiers_.disk && tiers_.disk->blocks().put(key, number, *object, block) == Taken::yes;
  return written || stored == cache::Stored::yes ? BlockKept::yes : BlockKept::no;
}

Task<void> CacheAccess::let_the_disk_catch_up(std::shared_ptr<DiskPatience> patience) {
  using std::chrono::milliseconds;
  const auto& tiers = reader_.tiers;
  if (!tiers.disk) co_return;
  const auto most = most_unwritten(tiers.budget.limit());
  const auto more_than = most - std::min<std::uint64_t>(most, cache::kBlockBytes);
  const auto begun = tiers.clock.steady();
  const auto allowed = patience->left(begun);
  milliseconds waited{0};
  while (waited < allowed) {
    const auto taken = std::make_shared<net::Wakeup>(reader_.executor);
    const auto notice =
        tiers.disk->disk().queue().when_taken(more_than, [taken] { taken->notify(); });
    if (notice == cache::disk::WriteQueue::Notice::none) break;
    co_await taken->wait(allowed - waited);
    waited = std::chrono::ceil<milliseconds>(tiers.clock.steady() - begun);
  }
  patience->record(waited);
}

}  // namespace proxy::tiers
