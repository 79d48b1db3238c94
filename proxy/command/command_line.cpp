#include "proxy/command/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "config/text.hpp"

namespace proxy::command {
namespace {

using Apps = std::vector<const CLI::App*>;

Apps commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_name().empty(); });
}

// With the options of groups, which are apps without a name.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> all = app.get_options();
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); })) {
    const auto more = options_of(*group);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string with_nearest(std::string what, const std::string& word, const Words& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string_view near = config::nearest(word, candidates);
  what += ' ' + config::in_quotes(word);
  return near.empty() ? what : what + "; did you mean " + config::in_quotes(near) + '?';
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  Words known;
  for (const CLI::App* each : commands_of(app)) known.push_back(each->get_name());
  std::string what = with_nearest("unknown command", word, known);
  return what.ends_with('?') ? what : what + "; `hearsay help` lists the commands";
}

// "--config" of "--config=FILE", "-o" of "-oFILE".
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

std::string unknown_option(const CLI::App& app, const std::string& name) {
  Words known;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& each : option->get_lnames()) known.push_back("--" + each);
  }
  return with_nearest("unknown option", name, known);
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : options_of(app)) {
    if (option->check_name(name)) return option;
  }
  return nullptr;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

}  // namespace

void add_help(CLI::App& program) {
  program.name("hearsay");
  auto* const help = program.add_subcommand("help", "explain a command: hearsay help COMMAND");
  help->add_option("COMMAND", "the command to explain, or: settings NAME");
  program.add_subcommand("version", "say which version this is; also -V");
}

Words in_options(Words words) {
  if (words.size() == 1 && words[0] == "version") return {"--version"};
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

std::optional<std::string> unknown_word(const CLI::App& program, const Words& words) {
  const CLI::App* app = &program;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return std::nullopt;
    if (is_option(word)) {
      const std::string name = option_name(word);
      const CLI::Option* option = find_option(*app, name);
      if (!option) return unknown_option(*app, name);
      if (option->get_items_expected() > 0 && name == word) ++i;  // its value
      continue;
    }
    const auto commands = commands_of(*app);
    if (commands.empty()) continue;
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* each) { return each->get_name() == word; });
    if (found == commands.end()) return unknown_command(*app, word);
    app = *found;
  }
  return std::nullopt;
}

}  // namespace proxy::command
