// Texts about steps of the clock.
#pragma once

#include <string>

#include "proxy/machine/clock.hpp"

namespace proxy {

// "the clock of this machine was set back by 2 hours". Pure.
std::string step_text(const machine::ClockStep& step);

// What /health says while ages are doubtful. Pure.
std::string doubt_text(const machine::ClockStep& last, machine::Clock::Time now);

// Writes the step to the log.
void say_step(const machine::ClockStep& step);
// Writes to the log that ages are not doubtful any more.
void say_ages_right();

}  // namespace proxy
