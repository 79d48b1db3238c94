#include "proxy/observe/process_facts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include "proxy/observe/exposition.hpp"
#include "proxy/version.hpp"

namespace proxy::observe {
namespace {

std::chrono::duration<double> seconds_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

std::chrono::duration<double> processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

// The second number of /proc/self/statm, in pages.
// getrusage() tells only the greatest size so far.
std::optional<std::uint64_t> resident_bytes_in(int memory) {
  std::array<char, 128> text{};
  const auto size = memory < 0 ? -1 : ::pread(memory, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  const std::string_view line(text.data(), static_cast<std::size_t>(size));
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  std::uint64_t pages = 0;
  const auto read = std::from_chars(line.data() + space + 1, line.data() + line.size(), pages);
  if (read.ec != std::errc{}) return std::nullopt;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> most_descriptors() {
  rlimit limit{};
  // Without a bound there is no sample: Prometheus has no word for it but a number.
  const bool is_bounded =
      ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_bounded ? std::optional<std::uint64_t>(limit.rlim_cur) : std::nullopt;
}

}  // namespace

ProcessFacts::ProcessFacts()
    : memory_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      descriptors_(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

std::optional<std::uint64_t> ProcessFacts::resident_bytes() const {
  return resident_bytes_in(memory_.number());
}

std::optional<std::size_t> ProcessFacts::open_descriptors() const {
  // A reading begins at the first entry, and two readers share the position.
  const threads::MutexLock lock(mutex_);
  if (!descriptors_ || ::lseek(descriptors_.number(), 0, SEEK_SET) != 0) return std::nullopt;
  // Not readdir(): fdopendir() would take the descriptor, which the sandbox lets nobody open again.
  alignas(dirent64) std::array<char, 32 * 1024> names;
  std::size_t entries = 0;
  for (;;) {
    const auto size = ::getdents64(descriptors_.number(), names.data(), names.size());
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size); ++entries) {
      at += reinterpret_cast<const dirent64*>(names.data() + at)->d_reclen;
    }
  }
  constexpr std::size_t kDots = 2;  // "." and ".."
  return entries < kDots ? std::nullopt : std::optional(entries - kDots);
}

ProcessFacts::Reading ProcessFacts::read() const {
  return {.processor_time = processor_time(),
          .resident_bytes = resident_bytes(),
          .open_descriptors = open_descriptors(),
          .most_descriptors = most_descriptors()};
}

void append_process_metrics(std::string& out, const ProcessFacts& facts,
                            std::chrono::system_clock::time_point started) {
  const auto reading = facts.read();
  const std::chrono::duration<double> since_1970 = started.time_since_epoch();
  describe(out, "hearsay_build_info", "gauge", "Always 1; its label is the version.");
  fmt::format_to(std::back_inserter(out), "hearsay_build_info{{version=\"{}\"}} 1\n", kVersion);
  single(out, "process_start_time_seconds", "gauge", "When the process started, since 1970.",
         since_1970.count());
  single(out, "process_cpu_seconds_total", "counter", "Processor time, of user and system.",
         reading.processor_time.count());
  // A fact that is not known is left out: a sample of 0 would be a lie.
  const auto known = [&out](std::string_view name, std::string_view help, const auto& value) {
    if (value) single(out, name, "gauge", help, *value);
  };
  known("process_resident_memory_bytes", "Memory that the process has in RAM.",
        reading.resident_bytes);
  known("process_open_fds", "Open file descriptors.", reading.open_descriptors);
  known("process_max_fds", "File descriptors that the process may have open.",
        reading.most_descriptors);
  single(out, "hearsay_lock_waits_total", "counter",
         "How often a thread has slept because another one held a lock.",
         threads::lock_waits().load(std::memory_order_relaxed));
}

}  // namespace proxy::observe
