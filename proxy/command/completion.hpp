// Completion of command lines in a shell, made from the same table as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace proxy::command {

// The script that completes the program's commands and options: "bash", "zsh" or "fish". Empty:
// there is none for this shell. Hidden commands are left out. Pure.
std::string completion_script(const CLI::App& program, std::string_view shell);

// Declares `completion`. Call the result, which returns the exit code, if the command line names
// it.
std::function<int()> add_completion(CLI::App& program);

}  // namespace proxy::command
