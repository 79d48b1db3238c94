// The words of the command line before they are parsed, and what is made from the same table as
// --help: the manual page, and completion in a shell.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace proxy::command {

using Words = std::vector<std::string>;

// Declares `help` and `version`, for the list of commands.
void add_help(CLI::App& program);

// "help" and "help cache list" become "--help" and "cache list --help", "version" becomes
// "--version". Other words stay. Pure.
Words in_options(Words words);

// What is wrong with the first word that is no command or option of the program, with the one that
// was likely meant: `unknown command "serv"; did you mean "serve"?`. Nothing if all are known, as
// far as this can tell; the parser finds the rest. `words`: without the program's name. Pure.
std::optional<std::string> unknown_word(const CLI::App& program, const Words& words);

// The script that completes the program's commands and options: "bash", "zsh" or "fish". Empty:
// there is none for this shell. Hidden commands are left out. Pure.
std::string completion_script(const CLI::App& program, std::string_view shell);

// Declares `completion`. Call the result, which returns the exit code, if the command line names
// it.
std::function<int()> add_completion(CLI::App& program);

// The page hearsay(1) in the macros of man(7): all subcommands with their options. Hidden ones
// (without a group) are left out. `version` is printed at the foot of the page.
std::string manual_page(const CLI::App& program, std::string_view version);

}  // namespace proxy::command
