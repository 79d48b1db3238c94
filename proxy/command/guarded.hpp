// What the program does where work throws.
#pragma once

#include <functional>
#include <string_view>

#include "proxy/command/streams.hpp"

namespace proxy::command {

// No exception leaves: what none of us expected is trouble, too, and never an exit code that says
// something about the work. `remedy`: what to do where memory ran out.
Result<int> guarded(const std::function<Result<int>()>& work, std::string_view remedy);

// The exit code of work that `command` did, after its trouble was said on `err` in one line.
int exit_code(const Result<int>& done, std::string_view command, const Streams& streams);

}  // namespace proxy::command
