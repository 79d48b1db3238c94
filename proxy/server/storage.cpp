#include "proxy/server/storage.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "proxy/cache/purge_pattern.hpp"
#include "proxy/machine/folders.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/pages/health.hpp"

namespace proxy::server {
namespace {

constexpr std::uint64_t kLeastMemory = std::uint64_t{16} << 20;
constexpr std::chrono::minutes kCalm{10};
constexpr std::uint64_t kStepsBack = 16;  // back to the full size

// What an earlier run held may have left before any digest of this run is closed, even within the
// second to which departures are known.
constexpr std::chrono::seconds kBeforeAnyDigest{1};

// Enough for the blocks of a few large objects on their way.
constexpr std::uint64_t kWhileLeaving = std::uint64_t{16} << 20;

// In steps, so that no request has to make much room.
void lower(cache::Budget& budget, std::uint64_t limit, cache::Store& store) {
  constexpr std::uint64_t kStep = std::uint64_t{8} << 20;
  for (auto now = budget.limit(); now > limit; now = budget.limit()) {
    budget.set_limit(std::max(limit, now - std::min(now, kStep)));
    store.make_room();
  }
}

// The share of cache.memory for bodies that are passed on unstored.
std::uint64_t transit_share(const config::CacheSettings& settings) {
  return settings.memory.value / 8;
}

cache::Admit admit_of(const config::DiskSettings& told) {
  return told.admit == config::Admit::second ? cache::Admit::second : cache::Admit::first;
}

std::unique_ptr<cache::DiskTier> made_disk(const config::CacheSettings& settings,
                                           cache::Budget& budget, machine::Clock& clock,
                                           cache::KeptElsewhere elsewhere) {
  const auto& told = settings.disk;
  if (!told) return nullptr;
  const cache::DiskLimits limits{.path = told->path,
                                 .bytes = told->size.value,
                                 .admit = admit_of(*told),
                                 .kept_elsewhere = std::move(elsewhere)};
  return std::make_unique<cache::DiskTier>(budget, clock, limits, cache::PurgePattern::reading,
                                           digest::unpredictable());
}

cache::KeptElsewhere asking(const Keepers& keepers) {
  return [&keepers](const digest::Claim& claim) { return keepers.elsewhere(claim); };
}

// A neighbour may still hold what was purged before a restart.
void remember(const cache::disk::LatelyPurged& purged, fill::Fills& fills,
              machine::Clock::SteadyTime now) {
  for (const auto& key : purged.keys) fills.invalidate(key, now);
  for (const auto& text : purged.prefixes)
    fills.invalidate(cache::PurgePattern::of_text(text), now);
}

}  // namespace

void make_cache_folder(const config::CacheSettings& settings) {
  if (!settings.disk) return;
  auto folder = std::filesystem::path(settings.disk->path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // of a path that ends in a slash
  const auto above = folder.parent_path();
  std::error_code error;
  if (!above.empty()) std::filesystem::create_directories(above, error);
  // Not by create_directories(), whose mode would let everybody read what is stored.
  if (!error && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    error = {errno, std::generic_category()};
  }
  if (!error) return;
  const auto advice = machine::read_only_advice(folder);
  spdlog::error("cache.disk.path {}: this folder cannot be created: {}; {}", settings.disk->path,
                error.message(), advice.empty() ? "create it, or name another" : advice);
}

void Storage::give_up_memory() {
  lower(budget, kWhileLeaving, store);
}

void Storage::limit_memory(std::uint64_t bytes) {
  // `bytes` is what cache.memory leaves beside the eighth of it for transit: seven eighths.
  transit.set_limit(bytes / 7);  // as transit_share() has it
  lower(budget, bytes, store);
  // A limit that grows: lower() has done nothing.
  budget.set_limit(bytes);
}

void Storage::apply(const config::Settings& settings) {
  const auto& told = settings.cache;
  limit_memory(told.memory.value - transit_share(told));
  store.follow_budget(told.largest_object().value);
  if (!disk || !told.disk) return;
  const auto resized = disk->resize(told.disk->size.value, admit_of(*told.disk));
  if (!resized) {
    spdlog::warn("cache.disk.size stays as it is: {}", to_string(resized.error()));
  }
}

void Storage::take_disk_back(const config::Settings& settings, const machine::Clock& clock) {
  if (disk) observe::open_disk(*disk, settings.cache.disk->path, InUse::rests, clock);
}

bool Storage::stop_disk() {
  return !disk || disk->stop() == cache::DiskTier::Stopped::yes;
}

std::size_t Storage::entries_on_disk() const {
  return disk ? disk->disk().catalog().index.entries() : 0;
}

Storage::Storage(const config::Settings& settings, machine::Clock& clock, InUse in_use)
    : keepers(clock),
      budget(settings.cache.memory.value - transit_share(settings.cache)),
      transit(transit_share(settings.cache)),
      disk(made_disk(settings.cache, budget, clock, asking(keepers))),
      store(
          budget,
          {.max_object = settings.cache.largest_object().value, .kept_elsewhere = asking(keepers)},
          disk ? &disk->disk().catalog().index : nullptr, &newly_claimed),
      placement(budget, &store.totals()),
      runs(blocks::TransferSlots::slots_in(budget.limit())),
      watch(disk.get(), settings.cache.disk ? settings.cache.disk->path : std::string()) {
  if (!disk) return;
  remember(observe::open_disk(*disk, settings.cache.disk->path, in_use, clock), fills,
           clock.steady());
  disk->sit_under(store);
  // A neighbour may hold a digest of the run before.
  if (entries_on_disk() > 0) store.lose_departures(clock.now() - kBeforeAnyDigest);
}

// The descriptor is a copy, since asio closes what it is given, and the reserve uses its own.
GivingWay::GivingWay(net::asio::io_context& aside, Storage& storage, tiers::Tiers& tiers)
    : storage_(storage),
      tiers_(tiers),
      failed_(aside, ::dup(reserve_.failed().descriptor())),
      calm_(aside.get_executor()) {}

void GivingWay::start() {
  reserve_.failed().set();
  await_failure();
}

void GivingWay::await_failure() {
  failed_.async_wait(net::asio::posix::descriptor_base::wait_read, [this](net::error_code error) {
    if (error) return;
    try {
      if (reserve_.failed().rang()) give_way();
    } catch (const std::bad_alloc&) {
      // The next allocation that fails rings again.
    }
    reserve_.failed().set();
    await_failure();
  });
}

void GivingWay::give_way() {
  auto& budget = storage_.budget;
  auto& full = tiers_.reduced_from;
  if (full == 0) full = budget.limit();
  // An eighth of what is held, not of the limit: only memory in use can be given up.
  const auto held = std::min(budget.used(), budget.limit());
  const auto limit = std::min(budget.limit(), std::max(kLeastMemory, held - held / 8));
  storage_.limit_memory(limit);
  // To the system, or the allocator keeps it for itself and the next large allocation fails, too.
  machine::memory::return_all_freed();
  reserve_.refill();
  spdlog::error("memory: {}", pages::text_of_reduced(limit, full));
  grow_later();
}

void GivingWay::grow_later() {
  // Under a limit of the process itself the memory would run out again.
  if (machine::is_address_space_limited()) return;
  calm_.expires_after(kCalm);
  calm_.async_wait([this](net::error_code error) {
    if (!error) grow();
  });
}

void GivingWay::grow() {
  const std::uint64_t full = tiers_.reduced_from;
  if (full == 0) return;
  // In small steps: what took the memory before may still take it.
  const auto limit = std::min(full, storage_.budget.limit() + full / kStepsBack);
  storage_.limit_memory(limit);
  reserve_.refill();
  if (limit < full) return grow_later();
  begin_anew();
  spdlog::info("memory: the cache may take {} MiB again", limit >> 20);
}

void GivingWay::begin_anew() {
  tiers_.reduced_from = 0;
  calm_.cancel();
}

}  // namespace proxy::server
