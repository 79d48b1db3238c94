#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <variant>

// What a bench is told on its command line. CLI11 costs several seconds of each source that
// includes it: here it is compiled once, for all benches.
namespace bench {

struct Argument {
  const char* name;  // with its dashes
  // Its default until it is read.
  std::variant<double*, std::uint64_t*, std::uint32_t*, int*> value;
  const char* meaning = "";
};

// Reads the command line into the values. What it gives is the exit code of who is done with that:
// --help was asked for, or it is wrong.
std::optional<int> parse(int argc, char** argv, const char* purpose,
                         std::initializer_list<Argument> arguments);

}  // namespace bench
