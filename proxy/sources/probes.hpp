// One thread's state for questions of our own, for which no client waits: see sources/sampling.hpp
// and sources/checking.hpp.
#pragma once

#include <cstddef>
#include <random>

namespace proxy {

// Belongs to one thread.
struct Probes {
  static constexpr std::size_t kMostAtOnce = 16;  // further questions are not asked

  // Counts a question while it is under way.
  class Running {
   public:
    explicit Running(Probes& probes) : probes_(probes) { ++probes_.running; }
    ~Running() { --probes_.running; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Probes& probes_;
  };

  // True in this share of the calls, 0 to 1.
  [[nodiscard]] bool chosen(double share) {
    return std::uniform_real_distribution<double>()(random) < share;
  }
  [[nodiscard]] bool full() const { return running >= kMostAtOnce; }

  std::minstd_rand random{std::random_device{}()};
  std::size_t running = 0;
};

}  // namespace proxy
