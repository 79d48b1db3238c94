// How much the writer does at a time beside appending.
#pragma once

#include <chrono>
#include <cstddef>

namespace proxy::cache::disk {

// A step reads at most this many records, and begins no read after this time: whatever is appended
// waits for the step to end.
inline constexpr std::size_t kStepEntries = 256;
inline constexpr std::chrono::milliseconds kStepTime{100};

}  // namespace proxy::cache::disk
