// A disk that is full for a while.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace proxy::cache::disk {

// While this object exists, no file may become larger, as on a full disk.
class NoSpace {
 public:
  explicit NoSpace(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~NoSpace() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace proxy::cache::disk
