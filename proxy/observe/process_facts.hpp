// What the system knows of this process, for /metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "peers/threads/mutex.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::observe {

class ProcessFacts {
 public:
  // Opens files of /proc, which the sandbox forbids later. Without them, their facts are unknown.
  ProcessFacts();

  struct Reading {
    std::chrono::duration<double> processor_time{};  // of all threads, in user and system mode
    std::optional<std::uint64_t> resident_bytes;
    std::optional<std::size_t> open_descriptors;
    std::optional<std::uint64_t> most_descriptors;
  };
  // Reads all facts, which takes about a millisecond for each 5,000 descriptors. Any thread may
  // call this.
  [[nodiscard]] Reading read() const;
  // The memory of the process. Cheap; any thread may call this.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes() const;

 private:
  [[nodiscard]] std::optional<std::size_t> open_descriptors() const;

  const machine::Descriptor memory_;  // /proc/self/statm; none: unknown
  mutable threads::Mutex mutex_;
  // /proc/self/fd, read under the mutex, as a reader moves its position.
  const machine::Descriptor descriptors_;
};

// Appends the metrics of the process, by the names that Prometheus gives them, and the version.
// `started`: when the process began.
void append_process_metrics(std::string& out, const ProcessFacts& facts,
                            std::chrono::system_clock::time_point started);

}  // namespace proxy::observe
