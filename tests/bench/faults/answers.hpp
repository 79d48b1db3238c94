// How neighbours and origins answer: well, late, or not at all.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "tests/bench/faults/played_server.hpp"

namespace bench {

// The right body, after this time.
Answer well_after(std::chrono::milliseconds time);
// Nothing, until the other side leaves.
Answer silence();
// The right answer, a byte a second.
Answer drip();
// Silence for one request in ten, else the right answer at once.
Answer one_in_ten_silent();
// Asks the proxy that asks, without Via, as if for itself.
Answer forwarded_to(const std::atomic<std::uint16_t>& proxy);

}  // namespace bench
