// Sizes and times as squid.conf writes them. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/settings.hpp"
#include "proxy/command/squid/lines.hpp"

namespace proxy::command::squid {

// "256 MB": two words, or one. KB, MB and GB are powers of 1024. `unit` is the unit of a number
// without one, in bytes.
std::optional<config::ByteSize> size_of(const std::vector<Word>& words, std::size_t at,
                                        std::uint64_t unit);

// "30 seconds", "1 hour", "2 days". `unit` is the unit of a number without one.
std::optional<std::chrono::milliseconds> time_of(const std::vector<Word>& words, std::size_t at,
                                                 std::chrono::milliseconds unit);

}  // namespace proxy::command::squid
