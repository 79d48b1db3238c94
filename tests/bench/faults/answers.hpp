// How neighbours and origins answer: well, late, or not at all.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/bench/faults/played_server.hpp"

namespace bench {

// Whether a response names its version by a strong ETag, or has no validator at all.
enum class Validator { strong, none };

// The right body, after this time. `more`: fields of the response.
Answer well_after(std::chrono::milliseconds time, const support::Fields& more = {});
// The same, and by Range the parts of a body with a strong validator.
Answer in_parts_after(std::chrono::milliseconds time, Validator validator = Validator::strong);
// Nothing, until the other side leaves.
Answer silence();
// The right answer, a byte a second.
Answer drip();
// Silence for one request in so many, else the right answer at once.
Answer one_silent_in(std::uint64_t many);
// The head and so many percent of the body at once, then nothing.
Answer stall_at(std::size_t percent, Validator validator = Validator::strong);
// The head and so many bytes of the body at once, then nothing or a reset.
Answer stall_after(std::size_t bytes);
Answer reset_after(std::size_t bytes);
// The head and half of the body, then a reset.
Answer reset_in_body();
// The head and half of the body, then the end of the connection.
Answer too_short();
// The right answer, with bytes after it that belong to nothing.
Answer too_long();
// 500, or 504 after this time: it holds nothing.
Answer error_at_once();
Answer denial_after(std::chrono::milliseconds time);
// The end of the connection at once.
Answer hang_up();
// 102 (Processing) at once, then nothing.
Answer processing();
// Answers at once for this time, then to nobody for the same time, and so on.
Answer in_turns(std::chrono::milliseconds time);
// Answers the proxy of this name by `its`, and others by `others`.
Answer for_one(const std::string& name, const Answer& its, const Answer& others);
// Asks the proxy that asks, without Via, as if for itself.
Answer forwarded_to(const std::atomic<std::uint16_t>& proxy);

// An origin's answer, after a time: fresh for `max_age`. With validators, it confirms what has not
// changed.
Answer ageing(std::chrono::milliseconds time, std::chrono::seconds max_age, bool validators);

}  // namespace bench
