// What the disk did, for /metrics. Written by whoever does it, read by any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace proxy::cache::disk {

struct Counters {
  using Count = std::atomic<std::uint64_t>;

  // Bytes written. Their sum over `stored_bytes` is the write amplification.
  Count stored_bytes = 0;      // records that were asked for, purges too
  Count reinserted_bytes = 0;  // records copied out of a segment before it was reclaimed
  Count overhead_bytes = 0;    // headers of segments, footers, what searches found

  Count stored = 0;        // records
  Count reinserted = 0;    // entries copied
  Count evicted = 0;       // entries that went with their segment
  Count reclaimed = 0;     // segments
  Count crowded_out = 0;   // segments among them that the disk had room for, but not the index
  Count squeezed_out = 0;  // segments among them that only the file system had no room for
  Count purged = 0;        // entries found by the search for a prefix

  Count refused_busy = 0;     // records not taken: too much waits to be written
  Count refused_resting = 0;  // the disk rested
  Count failed_writes = 0;    // records taken and then not written
  Count corrupt = 0;          // entries dropped as a checksum did not fit
  Count failed_reads = 0;     // the system refused to read
  Count slow_reads = 0;       // given up: the disk did not answer in time
};

}  // namespace proxy::cache::disk
