// Where random numbers come from, as a value that is given: a test or a simulation gives a seeded
// one.
#pragma once

#include <cstdint>
#include <functional>

namespace digest {

// Each call gives 64 random bits. For one thread at a time.
using RandomWords = std::function<std::uint64_t()>;

// Of the operating system: nobody can predict them. Any thread.
RandomWords unpredictable();

}  // namespace digest
