// What the disk did. Any thread counts and reads. One member per number of the disk in /metrics, so
// it has 18.
#pragma once

#include <atomic>
#include <cstdint>

namespace proxy::cache::disk {

struct Counters {
  using Count = std::atomic<std::uint64_t>;

  // Bytes written. Their sum divided by `stored_bytes` is the write amplification.
  Count stored_bytes = 0;      // records that callers queued, purges included
  Count reinserted_bytes = 0;  // records copied out of a segment before it was reclaimed
  Count overhead_bytes = 0;    // headers and footers of segments, records of searches

  Count stored = 0;        // records
  Count reinserted = 0;    // entries copied
  Count evicted = 0;       // entries lost with a reclaimed segment
  Count duplicates = 0;    // entries not copied, because another cache keeps them
  Count reclaimed = 0;     // segments
  Count crowded_out = 0;   // segments reclaimed because the index was full; the disk was not
  Count squeezed_out = 0;  // segments reclaimed because others filled the file system
  Count purged = 0;        // entries removed by the search for purges by prefix

  Count refused_busy = 0;     // records refused: too much waits to be written
  Count refused_resting = 0;  // records refused: the disk rested
  Count failed_writes = 0;    // records that were queued but could not be written
  Count corrupt = 0;          // entries dropped: a checksum did not match
  Count failed_reads = 0;     // reads that the system refused
  Count slow_reads = 0;       // reads given up: the disk did not answer in time
  Count lost = 0;             // times that the directory or its content vanished
};

}  // namespace proxy::cache::disk
