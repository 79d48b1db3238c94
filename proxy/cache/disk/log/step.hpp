// How much other work the writer does between appends.
#pragma once

#include <chrono>
#include <cstddef>

namespace proxy::cache::disk {

// A step reads at most this many records, and begins no read after this time, because all appends
// wait for the end of the step.
inline constexpr std::size_t kStepEntries = 256;
inline constexpr std::chrono::milliseconds kStepTime{100};

}  // namespace proxy::cache::disk
