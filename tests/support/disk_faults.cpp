// Preloaded into the program: makes its disk hang, slow or read-only while a file of that name
// exists in the directory HEARSAY_DISK_FAULTS: reads_hang, reads_slow, writes_hang, writes_slow,
// full,
// read_only. Only the cache on disk uses the system calls that this file replaces.
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

// Like a disk that moves its heads for each read.
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
  const bool full = is_told("full");
  if (!full && !is_told("read_only")) return false;
  errno = full ? ENOSPC : EROFS;
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
