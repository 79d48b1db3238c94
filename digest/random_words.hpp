// Where random numbers come from, as a value that is given: a test or a simulation gives a seeded
// one.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <system_error>

namespace digest {

// Each call gives 64 random bits. For one thread at a time.
using RandomWords = std::function<std::uint64_t()>;

// Random numbers of the operating system, which nobody can predict. Any thread. A call throws
// std::system_error if the system has none to give.
inline RandomWords unpredictable() {
  return [] {
    std::uint64_t word = 0;
    if (::getentropy(&word, sizeof word) != 0) {
      throw std::system_error(errno, std::generic_category(), "getentropy");
    }
    return word;
  };
}

}  // namespace digest
