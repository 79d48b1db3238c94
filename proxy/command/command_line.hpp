// The words of the command line, before they are parsed.
#pragma once

#include <optional>
#include <string>
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

}  // namespace proxy::command
