// Formats foreign bytes and times for a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace proxy::command {

// Keeps printable ASCII except the backslash; writes every other byte as "\xNN", so that a terminal
// executes none and none forges a line. Of a text longer than `most` bytes, returns that many, and
// the number of bytes left out.
std::string escaped(std::string_view text, std::size_t most = std::size_t{8} << 10);

// "57m": in the largest of s, m, h and d in which the time is at least 1, rounded down; "0s" for a
// negative time.
std::string short_time(std::chrono::seconds time);

}  // namespace proxy::command
