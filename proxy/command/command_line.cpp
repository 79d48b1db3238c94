#include "proxy/command/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "config/text.hpp"
#include "proxy/command/streams.hpp"

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
  // "-1" is a value, and "-" is standard input.
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

struct Candidate {
  std::string word;
  std::string about;  // one line
};

// What may follow the words `at`, such as "cache list".
struct Level {
  std::string at;
  std::vector<Candidate> commands;
  std::vector<Candidate> options;
};

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, std::min(text.find_first_of("\n;"), text.find(". ")));
  std::replace(line.begin(), line.end(), '\'', '`');  // the scripts quote it
  // In zsh, a colon separates a word from its description.
  std::replace(line.begin(), line.end(), ':', ',');
  return line;
}

std::vector<Candidate> shown_options(const CLI::App& app) {
  std::vector<Candidate> shown;
  for (const CLI::Option* option : options_of(app)) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      const std::string word = "--" + name;
      const bool is_known = std::any_of(shown.begin(), shown.end(), [&](const Candidate& each) {
        return each.word == word;  // --help of an option group
      });
      if (!is_known) shown.push_back({word, first_line(option->get_description())});
    }
  }
  return shown;
}

void add_levels(const CLI::App& app, const std::string& at, std::vector<Level>& into) {
  const std::size_t own = into.size();
  into.push_back({at, {}, shown_options(app)});
  for (const CLI::App* sub : commands_of(app)) {
    const std::string& name = sub->get_name();
    if (sub->get_group().empty()) continue;
    into[own].commands.push_back({name, first_line(sub->get_description())});
    add_levels(*sub, at.empty() ? name : at + ' ' + name, into);
  }
}

std::string words_of(const std::vector<Candidate>& candidates) {
  std::string words;
  for (const Candidate& each : candidates) words += (words.empty() ? "" : " ") + each.word;
  return words;
}

std::string cases_of(const std::vector<Level>& levels, std::string_view variable) {
  std::string text;
  for (const Level& level : levels) {
    text += fmt::format("    '{}') {}='{} {}' ;;\n", level.at, variable, words_of(level.commands),
                        words_of(level.options));
  }
  return text;
}

// All places that have words, each in this form.
std::string places_of(const std::vector<Level>& levels, const char* form) {
  std::string text;
  for (const Level& level : levels) {
    if (!level.at.empty()) text += fmt::format(fmt::runtime(form), level.at);
  }
  return text;
}

// Files complete everything that begins with no dash where there is no further command.
std::string for_bash(const std::vector<Level>& levels) {
  return fmt::format(R"(# Completion of hearsay(1) for bash, made by `hearsay completion bash`.
_hearsay() {{
  local at='' word words='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    [[ $word == -* ]] && continue
    case "$at${{at:+ }}$word" in
{}      *) break ;;
    esac
    at="$at${{at:+ }}$word"
  done
  case "$at" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o filenames -F _hearsay hearsay
)",
                     places_of(levels, "      '{}') ;;\n"), cases_of(levels, "words"));
}

std::string for_zsh(const std::vector<Level>& levels) {
  std::string cases;
  for (const Level& level : levels) {
    cases += fmt::format("    '{}') candidates=(", level.at);
    for (const auto* list : {&level.commands, &level.options}) {
      for (const Candidate& each : *list) cases += fmt::format(" '{}:{}'", each.word, each.about);
    }
    cases += ") ;;\n";
  }
  return fmt::format(R"(#compdef hearsay
# Completion of hearsay(1) for zsh, made by `hearsay completion zsh`.
_hearsay() {{
  local at='' word i
  local -a candidates
  for ((i = 2; i < CURRENT; ++i)); do
    word=${{words[i]}}
    [[ $word == -* ]] && continue
    (( ${{known[(Ie)$at${{at:+ }}$word]}} )) || break
    at="$at${{at:+ }}$word"
  done
  case "$at" in
{}  esac
  _describe 'hearsay' candidates || _files
}}
local -a known
known=({})
_hearsay "$@"
)",
                     cases, places_of(levels, " '{}'"));
}

std::string for_fish(const std::vector<Level>& levels) {
  std::string text = R"(# Completion of hearsay(1) for fish, made by `hearsay completion fish`.
function __hearsay_at
    set -l words (string match -v -- '-*' (commandline -opc)[2..-1])
    set -l n (count $argv)
    test (count $words) -ge $n; and test "$words[1..$n]" = "$argv"
end
complete -c hearsay -n 'not __fish_seen_subcommand_from )" +
                     words_of(levels.front().commands) + "' -f\n";
  for (const Level& level : levels) {
    const std::string when =
        level.at.empty() ? "__fish_use_subcommand" : "__hearsay_at " + level.at;
    for (const Candidate& each : level.commands) {
      text +=
          fmt::format("complete -c hearsay -n '{}' -a '{}' -d '{}'\n", when, each.word, each.about);
    }
    for (const Candidate& each : level.options) {
      text += fmt::format("complete -c hearsay -n '{}' -l '{}' -d '{}'\n", when,
                          each.word.substr(2), each.about);
    }
  }
  return text;
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
    // All that follows is an argument, whatever it looks like (POSIX, guideline 10).
    if (word == "--") return std::nullopt;
    if (is_option(word)) {
      const std::string name = option_name(word);
      const CLI::Option* option = find_option(*app, name);
      // The parser would only say that it expected no such argument.
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

std::string completion_script(const CLI::App& program, std::string_view shell) {
  std::vector<Level> levels;
  add_levels(program, "", levels);
  if (shell == "bash") return for_bash(levels);
  if (shell == "zsh") return for_zsh(levels);
  return shell == "fish" ? for_fish(levels) : std::string();
}

std::function<int()> add_completion(CLI::App& program) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& app =
      *program.add_subcommand("completion", "print a script for a shell that completes commands");
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, &program] {
    const auto printed = print(completion_script(program, *shell), {});
    return printed ? *printed : kFailed;
  };
}

}  // namespace proxy::command
