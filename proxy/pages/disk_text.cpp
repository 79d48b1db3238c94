#include "proxy/pages/disk_text.hpp"

#include <fmt/format.h>

#include "proxy/observe/exposition.hpp"

namespace proxy {

namespace disk = cache::disk;

namespace {

struct CounterMetric {
  std::string_view name;
  std::string_view help;
  disk::Counters::Count disk::Counters::*count;
};
constexpr CounterMetric kCounters[] = {
    {"stored_bytes", "Bytes of records written for what was stored or purged.",
     &disk::Counters::stored_bytes},
    {"reinserted_bytes", "Bytes of records written again before their segment was reclaimed.",
     &disk::Counters::reinserted_bytes},
    {"overhead_bytes", "Bytes written that are no records.", &disk::Counters::overhead_bytes},
    {"stored", "Records written for what was stored or purged.", &disk::Counters::stored},
    {"reinserted", "Entries written again as they were used since.", &disk::Counters::reinserted},
    {"evicted", "Entries that went with their segment.", &disk::Counters::evicted},
    {"duplicates", "Entries not written again as a sibling keeps them.",
     &disk::Counters::duplicates},
    {"reclaimed", "Segments removed to make room.", &disk::Counters::reclaimed},
    {"crowded_out", "Segments among them that only the index had no room for.",
     &disk::Counters::crowded_out},
    {"squeezed_out", "Segments among them that only the file system had no room for.",
     &disk::Counters::squeezed_out},
    {"purged", "Entries found by the search after a purge of many.", &disk::Counters::purged},
    {"busy", "Records not written as too much waited.", &disk::Counters::refused_busy},
    {"resting", "Records not written as the disk rested.", &disk::Counters::refused_resting},
    {"failed_writes", "Records that could not be written.", &disk::Counters::failed_writes},
    {"corrupt", "Entries dropped as they were damaged.", &disk::Counters::corrupt},
    {"failed_reads", "Reads that the system refused.", &disk::Counters::failed_reads},
    {"slow_reads", "Reads given up as the disk did not answer in time.",
     &disk::Counters::slow_reads},
    {"lost", "Times that the directory of the cache, or what it held, vanished.",
     &disk::Counters::lost},
};

double write_amplification(const disk::Counters& counters) {
  const std::uint64_t stored = counters.stored_bytes;
  const std::uint64_t more = counters.reinserted_bytes + counters.overhead_bytes;
  return stored == 0 ? 1 : static_cast<double>(stored + more) / static_cast<double>(stored);
}

}  // namespace

void append_disk_metrics(std::string& out, const cache::DiskTier* tier) {
  if (!tier) return;
  const auto& disk = tier->disk();
  for (const auto& [name, help, count] : kCounters) {
    const std::uint64_t value = disk.catalog().counters.*count;
    single(out, fmt::format("hearsay_disk_{}_total", name), "counter", help, value);
  }
  single(out, "hearsay_disk_not_admitted_total", "counter",
         "Responses not written as their URL was asked for once (setting cache.disk.admit).",
         tier->admission().refused());
  const auto gauge = [&out](std::string_view name, std::string_view help, auto value) {
    single(out, fmt::format("hearsay_disk_{}", name), "gauge", help, value);
  };
  gauge("up", "Whether the disk takes what is stored.", tier->state().working ? 1 : 0);
  gauge("entries", "Records in the index.", disk.catalog().index.entries());
  gauge("objects", "Large responses, in whole or in part.",
        disk.catalog().index.count(disk::RecordKind::object));
  gauge("blocks", "Blocks of large responses, of a MiB or less.",
        disk.catalog().index.count(disk::RecordKind::block));
  gauge("index_bytes", "Memory of the index, part of cache.memory.", disk.catalog().index.bytes());
  gauge("segments", "Segment files.", disk.catalog().segments.count());
  gauge("used_bytes", "What the files take.", disk.catalog().used_bytes.load());
  gauge("queued_bytes", "What waits to be written.", disk.queue().bytes());
  gauge("write_amplification", "Bytes written over bytes of what was stored.",
        write_amplification(disk.catalog().counters));
}

}  // namespace proxy
