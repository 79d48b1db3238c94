#pragma once

#include <sys/resource.h>

namespace bench {

// A bench with many connections needs a descriptor for its end of each.
inline void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace bench
