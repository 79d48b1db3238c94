// The manual page, made from the same texts as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace proxy::command {

// The page hearsay(1) in the macros of man(7): all subcommands with their options. Hidden ones
// (without a group) are left out. `version` is printed at the foot of the page.
std::string manual_page(const CLI::App& program, std::string_view version);

}  // namespace proxy::command
