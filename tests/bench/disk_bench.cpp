// The cost of the cache on disk by itself: append, start, look-up, read, memory per entry.
#include <fmt/core.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "proxy/cache/disk/disk.hpp"
#include "tests/bench/arguments.hpp"
#include "tests/bench/cpu_time.hpp"
#include "tests/digest/keys.hpp"
#include "tests/support/await.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

using namespace proxy::cache::disk;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

std::string url_of(std::uint64_t number) {
  return fmt::format("http://bench.example/objects/{:08}", number);
}

struct Plan {
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::uint64_t records = 0;
  std::size_t body_bytes = 0;
  std::uint64_t first = 0;
};

Options options_of(const Plan& plan) {
  Options options{.path = plan.path, .log = {}};
  options.log.bytes = plan.size;
  options.gather = std::chrono::milliseconds(0);  // reclaim() waits for each record
  return options;
}

std::uint64_t written_by(const Disk& disk) {
  const Counters& counters = disk.catalog().counters;
  return counters.stored_bytes + counters.reinserted_bytes + counters.overhead_bytes;
}

// Appends as fast as the disk accepts records; returns once all are written.
void append(Disk& disk, const Plan& plan) {
  const std::string head(300, 'h');
  const auto body = std::make_shared<const std::string>(plan.body_bytes, 'b');
  for (std::uint64_t i = 0; i < plan.records; ++i) {
    NewRecord record{.header = {.kind = RecordKind::whole,
                                .claimable_until = 4'000'000'000,
                                .key = digest::quick_key(plan.first + i)},
                     .url = url_of(plan.first + i),
                     .head = head,
                     .body = {{body, bytes_of(*body)}}};
    Result<void> taken = Error::busy;
    (void)support::await([&] {
      taken = disk.append(record);
      return taken || taken.error() != Error::busy;
    });
    if (!taken) {
      fmt::print("append: {}\n", to_string(taken.error()));
      return;
    }
  }
  (void)disk.queue().settle(std::chrono::minutes(5));
}

void measure_append(Disk& disk, const Plan& plan) {
  const std::uint64_t before = written_by(disk);
  const auto begun = Clock::now();
  append(disk, plan);
  const double seconds = seconds_since(begun);
  const std::uint64_t written = written_by(disk) - before;
  const auto bytes = static_cast<double>(plan.records * plan.body_bytes);
  fmt::print("append {} x {} B: {:.0f} records/s, {:.0f} MiB/s; {:.3f} bytes written per byte\n",
             plan.records, plan.body_bytes, static_cast<double>(plan.records) / seconds,
             bytes / seconds / (1 << 20), static_cast<double>(written) / bytes);
}

void read(Disk& disk, const Plan& plan) {
  std::mt19937_64 random(1);
  std::vector<std::uint8_t> body(plan.body_bytes);
  const std::span<std::uint8_t> into(body);
  std::uint64_t hits = 0;
  std::uint64_t waits = 0;
  const auto begun = Clock::now();
  const std::uint64_t rounds = std::min<std::uint64_t>(plan.records, 100'000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t number = plan.first + random() % plan.records;
    const auto key = digest::quick_key(number);
    const auto place = disk.find(key, url_of(number));
    if (!place) continue;
    auto stored = disk.open(key, *place, Wait::no);
    if (!stored) {
      waits += 1;
      stored = disk.open(key, *place, Wait::yes);
    }
    if (stored && disk.read_body(*stored, {&into, 1}, Wait::yes)) hits += 1;
  }
  fmt::print("read {} x {} B: {:.0f}/s, {} found, {} not in the page cache\n", rounds,
             plan.body_bytes, static_cast<double>(rounds) / seconds_since(begun), hits, waits);
}

void drop_page_cache(const std::filesystem::path& path) {
  for (const auto& item : std::filesystem::directory_iterator(path)) {
    const int file = ::open(item.path().c_str(), O_RDONLY | O_CLOEXEC);
    (void)::fdatasync(file);
    (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

// Appends to a full log: each new segment waits until the oldest one is reclaimed. Every other
// record of the oldest segment was used, so it is read from the disk and appended again.
void reclaim(const Plan& plan) {
  proxy::machine::Clock clock;
  Disk disk(clock, options_of(plan), digest::unpredictable());
  if (!disk.start()) return;
  append(disk, plan);
  for (std::uint64_t i = 0; i < plan.records; i += 2) {
    (void)disk.find(digest::quick_key(i), url_of(i));
  }
  drop_page_cache(plan.path);
  double longest = 0;
  const Counters& counters = disk.catalog().counters;
  const auto goal = counters.reclaimed + 4;
  for (std::uint64_t i = plan.records; counters.reclaimed < goal; ++i) {
    const auto begun = Clock::now();
    append(disk, {plan.path, plan.size, 1, plan.body_bytes, i});
    longest = std::max(longest, seconds_since(begun));
  }
  fmt::print("reclaim: the longest that one record waited: {:.0f} ms\n", longest * 1000);
}

void start(const Plan& plan, const char* what) {
  const double cpu = bench::cpu_seconds(::getpid());
  const auto begun = Clock::now();
  proxy::machine::Clock clock;
  Disk disk(clock, options_of(plan), digest::unpredictable());
  const auto loaded = disk.start();
  const double milliseconds = seconds_since(begun) * 1000;
  const double busy = (bench::cpu_seconds(::getpid()) - cpu) * 1000;
  if (!loaded) {
    fmt::print("start: {}\n", to_string(loaded.error()));
    return;
  }
  const auto key = digest::quick_key(plan.first + plan.records - 1);
  const auto place = disk.find(key, url_of(plan.first + plan.records - 1));
  const bool hit = place && disk.open(key, *place, Wait::yes);
  fmt::print(
      "start {}: {:.0f} ms ({:.0f} ms of CPU) to all of {} entries in {} segments ({} replayed), "
      "{:.0f} ms to a "
      "hit{}\n",
      what, milliseconds, busy, loaded->entries, loaded->segments, loaded->replayed,
      seconds_since(begun) * 1000, hit ? "" : " that was none");
  fmt::print(
      "index: {:.1f} bytes per entry; {} MiB on disk\n",
      static_cast<double>(disk.catalog().index.bytes()) / static_cast<double>(loaded->entries),
      disk.catalog().used_bytes.load() >> 20);
}

// A pass over the whole index, such as a search for claims that end within a minute.
void pass(const Plan& plan) {
  proxy::machine::Clock clock;
  Disk disk(clock, options_of(plan), digest::unpredictable());
  if (!disk.start()) return;
  std::uint64_t ending = 0;
  double longest = 0;
  const double cpu = bench::cpu_seconds(::getpid());
  for (std::size_t shard = 0; shard < Index::kShards; ++shard) {
    const auto begun = Clock::now();
    disk.catalog().index.each_in(shard, [&ending](const auto&, const Location& place) {
      ending += place.claimable_until < 2'000'000'000 ? 1 : 0;
    });
    longest = std::max(longest, seconds_since(begun));
  }
  const double busy = bench::cpu_seconds(::getpid()) - cpu;
  fmt::print("a pass over the index: {:.1f} ms of CPU, {:.3f} ms under one lock; {} found\n",
             busy * 1000, longest * 1000, ending);
}

// Leaves the newest segment without its footer, as a crash does.
void cut_footer(const std::filesystem::path& path) {
  std::filesystem::path newest;
  for (const auto& file : std::filesystem::directory_iterator(path)) {
    if (file.path().extension() == ".segment") newest = std::max(newest, file.path());
  }
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 1);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t entries = 1'000'000;
  std::uint64_t records = 200'000;
  const auto exit_code = bench::parse(argc, argv, "cost of the cache on disk",
                                      {
                                          {"--entries", &entries, "of 1 KiB, for the start"},
                                          {"--records", &records, "of 10 KiB, appended into a GiB"},
                                      });
  if (exit_code) return *exit_code;
  {
    const support::TemporaryDirectory directory;
    const Plan plan{directory.path(), std::uint64_t{1} << 30, records, 10 * 1024, 0};
    proxy::machine::Clock clock;
    Disk disk(clock, options_of(plan), digest::unpredictable());
    if (!disk.start()) return 1;
    measure_append(disk, plan);
    read(disk, {plan.path, plan.size, std::min<std::uint64_t>(records, 50'000), 10 * 1024,
                records - std::min<std::uint64_t>(records, 50'000)});
    measure_append(disk, {plan.path, plan.size, records / 40 + 1, 100 * 1024, records});
    read(disk, {plan.path, plan.size, records / 40 + 1, 100 * 1024, records});
  }
  {
    const support::TemporaryDirectory directory;
    reclaim({directory.path(), std::uint64_t{1} << 30, 110'000, 10 * 1024, 0});
  }
  const support::TemporaryDirectory directory;
  const Plan plan{directory.path(), std::uint64_t{8} << 30, entries, 1024, 0};
  {
    proxy::machine::Clock clock;
    Disk disk(clock, options_of(plan), digest::unpredictable());
    if (!disk.start()) return 1;
    measure_append(disk, plan);
  }
  start(plan, "after a clean stop");
  pass(plan);
  cut_footer(plan.path);
  start(plan, "after a crash");
}
