// Preloaded into the program: a disk that hangs, is slow or may not be written, as long as a file
// says so. The files are in the directory that HEARSAY_DISK_FAULTS names: reads_hang, reads_slow,
// writes_hang, writes_slow, read_only. Nothing but the cache on disk uses these calls.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace {

bool is_told(const char* fault) {
  const char* const directory = std::getenv("HEARSAY_DISK_FAULTS");
  return directory && ::access((std::string(directory) + '/' + fault).c_str(), F_OK) == 0;
}

void hang_while(const char* fault) {
  while (is_told(fault)) ::usleep(5'000);
}

// As one that has to move its heads for each.
void read_slowly() {
  if (is_told("reads_slow")) ::usleep(10'000);
}

// 1 MB/s.
void write_slowly(const iovec* pieces, int count) {
  if (!is_told("writes_slow")) return;
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += pieces[i].iov_len;
  ::usleep(static_cast<useconds_t>(bytes));
}

bool may_not_write() {
  if (!is_told("read_only")) return false;
  errno = EROFS;
  return true;
}

}  // namespace

extern "C" {

ssize_t preadv2(int descriptor, const iovec* pieces, int count, off_t offset, int flags) {
  if (flags != 0 && (is_told("reads_hang") || is_told("reads_slow"))) {
    errno = EAGAIN;
    return -1;
  }
  hang_while("reads_hang");
  read_slowly();
  return ::syscall(SYS_preadv2, descriptor, pieces, count, offset, 0L, flags);
}

ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  hang_while("writes_hang");
  write_slowly(pieces, count);
  if (may_not_write()) return -1;
  return ::syscall(SYS_pwritev, descriptor, pieces, count, offset, 0L);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  if (may_not_write()) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, size));
}

int ftruncate(int descriptor, off_t size) noexcept {
  if (may_not_write()) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
}
}
