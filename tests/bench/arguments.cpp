#include "tests/bench/arguments.hpp"

#include <CLI/CLI.hpp>

namespace bench {

std::optional<int> parse(int argc, char** argv, const char* purpose,
                         std::initializer_list<Argument> arguments) {
  CLI::App app(purpose);
  for (const Argument& argument : arguments) {
    const auto add = [&](auto* value) { app.add_option(argument.name, *value, argument.meaning); };
    std::visit(add, argument.value);
  }
  for (CLI::Option* option : app.get_options()) option->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return std::nullopt;
}

}  // namespace bench
