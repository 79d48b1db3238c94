// Which sources were asked for a response, what they answered, and how long that took.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proxy {

// A question to one source.
struct Inquiry {
  std::string source;                  // the neighbour's name, or kOrigin
  std::string_view result;             // "answered", or why it was of no use; a literal
  std::string_view cause;              // of a false hit, as /digest spells it; a literal, or empty
  std::chrono::microseconds waited{};  // until the head of the answer, or until it was given up
};
inline constexpr std::string_view kOrigin = "origin";

// Whether the digest of any neighbour claimed what was asked for.
enum class Claimed : std::uint8_t { unknown, by_nobody, by_some };  // unknown: none was consulted

// All questions so far. A value.
struct Inquiries {
  Claimed claimed = Claimed::unknown;
  std::string detail = {};  // words for Cache-Status
  bool listed = false;      // whether `list` is kept: only the access log as JSON needs it
  std::vector<Inquiry> list = {};

  void add(Inquiry inquiry) {
    if (listed) list.push_back(std::move(inquiry));
  }
};

}  // namespace proxy
