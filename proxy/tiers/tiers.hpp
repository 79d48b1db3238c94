// Memory and disk as one cache: who stores, drops and looks up goes by these, and need not know
// whether there is a disk.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

struct Process;
struct Worker;
class PurgePattern;

using Asked = std::chrono::steady_clock::time_point;

// Stores what was asked for then, unless it was invalidated or purged since: whether it is stored.
// `superseded`: as Store::put().
bool keep(Process& process, const digest::Key& key,
          const std::shared_ptr<const cache::Entry>& entry, Asked asked,
          const cache::Entry* superseded = nullptr);

// Where the disk takes only what is asked for again (setting cache.disk.admit): to be told of each
// request for what may be stored under the key, before it is looked up; and of what memory has for
// it then, which is written now if it was not.
void note_asked(const Process& process, const Request& request, const digest::Key& key);
void admit_held(Process& process, const digest::Key& key,
                const std::shared_ptr<const cache::Entry>& held);

// Drops what is stored under the name, as a response has shown it to be outdated. A crash may
// bring it back.
void drop(Process& process, const digest::Key& key, const std::string& name);

struct Forgotten {
  std::size_t dropped = 0;  // responses that memory held, or 1 of a URL that the disk alone did
  bool owed = false;        // the disk failed: a crash before it is back may bring them back
};
// Purges or invalidates what is stored under the name, for good: what is being fetched is not
// stored either, and it ends when the disk has a record of it.
net::Task<Forgotten> forget(Worker& worker, const digest::Key& key, const std::string& name);
// The same for all that the purge covers; what only the disk held is not counted. Nothing: too many
// such purges are being carried out, and this one is not.
net::Task<std::optional<Forgotten>> forget(Worker& worker, const PurgePattern& purge);

// Whether the disk may have what answers this request, where memory has not: then read_back() it.
bool may_be_below(const Process& process, const Request& request, const digest::Key& key,
                  const cache::Found& found);
struct FoundBelow {
  cache::Found found;
  bool from_disk = false;  // the entry was read from the disk for this request
};
// What is found once the disk was asked, which is in memory then, if there is room. `asked`: before
// memory was looked at.
net::Task<FoundBelow> read_back(Worker& worker, const Request& request, digest::Key key,
                                cache::Found found, Asked asked);

// Large objects (cache/object.hpp), where there is a disk. `key` is the URL's, also of variants;
// `object` an object's entry, of the version whose blocks are meant. keep() and the others above
// are for that entry as for any other.

// Bodies that are longer are to be kept in blocks: cache::kLargeFrom, or what memory stores whole.
std::uint64_t large_from(const Process& process);
// Whether a body of that length can be kept in blocks: there is room for such on the disk, and no
// setting is against it.
bool may_be_kept_in_blocks(const Process& process, std::uint64_t length);

// Whether memory or disk has that block of it now, as far as is known without reading it.
bool has_block(const Process& process, const digest::Key& key, const cache::Entry& object,
               std::uint32_t number);
struct HeldBlock {
  std::shared_ptr<const cache::Entry> block;
  bool from_disk = false;  // it was read from there for this
};
// That block, whole and checked: an entry whose body it is, in memory from then on, if there is
// room. Null: it is not held, or not any more, or not to be had now, from a disk that is busy or
// under a purge on its way; one that turns out damaged is dropped, counted and logged. For who has
// room for it: see TransferSlots.
net::Task<HeldBlock> block_held(Worker& worker, digest::Key key,
                                std::shared_ptr<const cache::Entry> object, std::uint32_t number);
// Keeps a block that came whole, in memory and, written behind, on disk. False: neither took it, or
// the object was purged meanwhile.
bool keep_block(Process& process, const digest::Key& key,
                const std::shared_ptr<const cache::Entry>& object, std::uint32_t number,
                cache::Body bytes);
// The same before the object's own entry is stored.
bool keep_block_of_new(Process& process, const digest::Key& key,
                       const std::shared_ptr<const cache::Entry>& object, std::uint32_t number,
                       cache::Body bytes);
// How long one response may be held up for the disk to keep up with it: a second, and as long as it
// takes without. Any thread.
class DiskPatience {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::milliseconds;
  static constexpr Duration kAtOnce{1'000};

  [[nodiscard]] Duration left(Clock::time_point now) const {
    const Duration waited = waited_;
    const auto without = std::chrono::floor<Duration>(now - begun_) - waited;
    return kAtOnce + without - waited;
  }
  void note(Duration waited) { waited_ = waited_.load() + waited; }

 private:
  const Clock::time_point begun_ = Clock::now();
  std::atomic<Duration> waited_{Duration(0)};
};
// What waits to be written takes memory, and what there is no room for is not kept: waits where too
// much does. A disk that is too slow for that much patience does not get all of it.
net::Task<void> let_the_disk_catch_up(Worker& worker, std::shared_ptr<DiskPatience> patience);
// To be told when blocks of it were kept, once for many: where the disk has all of them now, it may
// be claimed. Whether it was purged or replaced meanwhile need not be asked.
void note_if_complete(Process& process, const digest::Key& key, const cache::Entry& object);

}  // namespace proxy
