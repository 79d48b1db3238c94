// Foreign bytes, sizes and times for a person at a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::command {

// Printable ASCII as it stands, but for the backslash: it and all other bytes become "\xNN", so
// that no terminal acts upon them and no line can be forged. Of more than `most` bytes the first,
// and how many more there are.
std::string escaped(std::string_view text, std::size_t most = std::size_t{8} << 10);

// "9.8 KiB", of at most 8 characters.
std::string short_size(std::uint64_t bytes);

// "57m": the largest unit of s, m, h and d that it has one of; "0s" if it is negative.
std::string short_time(std::chrono::seconds time);

}  // namespace proxy::command
