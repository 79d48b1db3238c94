// CPU time of another process, as the kernel's scheduler counts it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace bench {

// Seconds used so far by the threads of `process` that still run.
inline double cpu_seconds(pid_t process) {
  double nanoseconds = 0;
  const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    double on_cpu = 0;
    std::ifstream(task.path() / "schedstat") >> on_cpu;
    nanoseconds += on_cpu;
  }
  return nanoseconds / 1e9;
}

}  // namespace bench
