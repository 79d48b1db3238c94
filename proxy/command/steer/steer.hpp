// What every subcommand that asks a running proxy is given.
#pragma once

#include <string>
#include <string_view>

#include "proxy/command/steer/ask.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

struct Steer {
  Place place;
  bool json = false;  // print the page as it is
  Streams streams;
};

// The work of a subcommand: the exit code, or why there is no answer. Throws nothing but
// std::exception.
using SteerResult = Answered<int>;

// Prints to stdout and returns `exit_code`. Lost output fails with kRefusal.
SteerResult print_answer(const Steer& steer, std::string_view text, int exit_code = 0);

// The failure that means that another program than Hearsay, or another version, has answered.
Unanswered no_page(const Place& place, std::string_view target);

}  // namespace proxy::command
