// Runs a subcommand's work and turns its result into an exit code.
#pragma once

#include <functional>
#include <string_view>

#include "proxy/command/streams.hpp"

namespace proxy::command {

// The work of a subcommand. Returns the exit code, or the trouble that ended it.
using Work = std::function<Result<int>(const Streams&)>;

// Runs `work` and returns its exit code. On trouble, or if the work throws anything, writes one
// line to `err` that begins with "hearsay NAME: ", and returns kFailed. `remedy` advises what to do
// if memory ran out. Throws nothing.
int run_subcommand(const Work& work, std::string_view name, std::string_view remedy,
                   const Streams& streams);

}  // namespace proxy::command
