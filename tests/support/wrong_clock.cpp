// Preloaded into the program: its wall clock is ahead by the seconds, a 64-bit number, in the file
// HEARSAY_CLOCK_AHEAD. The file is mapped at the start, so that a test may write to it later, and
// no sandbox forbids to read it. (libfaketime clashes with the program's allocator.)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

const volatile std::int64_t* ahead = nullptr;

__attribute__((constructor)) void map_file() {
  const char* const path = std::getenv("HEARSAY_CLOCK_AHEAD");
  const int file = path ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const mapped = ::mmap(nullptr, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped != MAP_FAILED) ahead = static_cast<const std::int64_t*>(mapped);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  const bool is_wall_time = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_wall_time && ahead) time->tv_sec += *ahead;
  return result;
}
