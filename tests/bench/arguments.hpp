#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <variant>

// Options of a bench's command line. Each source that includes CLI11 compiles for several seconds
// longer, so it is compiled here once for all benches.
namespace bench {

struct Argument {
  const char* name;  // with its dashes
  // Holds the default until the command line is read.
  std::variant<double*, std::uint64_t*, std::uint32_t*, int*, std::string*> value;
  const char* meaning = "";
};

// Reads the command line into the values. Returns an exit code if the bench has to end at once:
// after --help, or on a wrong option.
std::optional<int> parse(int argc, char** argv, const char* purpose,
                         std::initializer_list<Argument> arguments);

}  // namespace bench
