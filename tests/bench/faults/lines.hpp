// The lines of the table.
#pragma once

#include <string>

#include "tests/bench/faults/honest.hpp"
#include "tests/bench/faults/killed.hpp"
#include "tests/bench/faults/open_loop.hpp"

namespace bench {

// Each print returns whether no body was wrong and no request failed.

void print_head();
bool print(const std::string& name, const Figures& figures, const std::string& origin);

void print_head_of_killed();
// A body without a validator may be cut in the first try, but not in the retry.
bool print(const Killing& killing, const Killed& killed);

// After the line of the figures.
bool print(Excuse excuse, const Honest& honest);

}  // namespace bench
