#include "proxy/command/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "proxy/command/streams.hpp"

namespace proxy::command {
namespace {

struct Candidate {
  std::string word;
  std::string about;  // one line
};

// What may follow the words `at`, such as "cache list".
struct Place {
  std::string at;
  std::vector<Candidate> commands;
  std::vector<Candidate> options;
};

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, std::min(text.find_first_of("\n;"), text.find(". ")));
  std::replace(line.begin(), line.end(), '\'', '`');  // the scripts quote it
  std::replace(line.begin(), line.end(), ':', ',');
  return line;
}

void add_options(const CLI::App& app, std::vector<Candidate>& into) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      const bool is_known = std::any_of(into.begin(), into.end(), [&](const Candidate& each) {
        return each.word == "--" + name;  // --help of an option group
      });
      if (is_known) continue;
      into.push_back({"--" + name, first_line(option->get_description())});
    }
  }
}

// Option groups are subcommands without a name.
void add_places(const CLI::App& app, const std::string& at, std::vector<Place>& into) {
  Place place{at, {}, {}};
  add_options(app, place.options);
  std::vector<const CLI::App*> below;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name().empty()) {
      add_options(*sub, place.options);
    } else if (!sub->get_group().empty()) {
      place.commands.push_back({sub->get_name(), first_line(sub->get_description())});
      below.push_back(sub);
    }
  }
  into.push_back(std::move(place));
  for (const CLI::App* sub : below) {
    add_places(*sub, at.empty() ? sub->get_name() : at + ' ' + sub->get_name(), into);
  }
}

std::string words_of(const std::vector<Candidate>& candidates) {
  std::string words;
  for (const Candidate& each : candidates) words += (words.empty() ? "" : " ") + each.word;
  return words;
}

std::string cases_of(const std::vector<Place>& places, std::string_view variable) {
  std::string text;
  for (const Place& place : places) {
    text += fmt::format("    '{}') {}='{} {}' ;;\n", place.at, variable, words_of(place.commands),
                        words_of(place.options));
  }
  return text;
}

// Files complete everything that begins with no dash where there is no further command.
std::string for_bash(const std::vector<Place>& places) {
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
                     [&] {
                       std::string known;
                       for (const Place& place : places) {
                         if (!place.at.empty()) known += "      '" + place.at + "') ;;\n";
                       }
                       return known;
                     }(),
                     cases_of(places, "words"));
}

std::string for_zsh(const std::vector<Place>& places) {
  std::string cases;
  for (const Place& place : places) {
    cases += fmt::format("    '{}') candidates=(", place.at);
    for (const auto* list : {&place.commands, &place.options}) {
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
                     cases, [&] {
                       std::string known;
                       for (const Place& place : places) {
                         if (!place.at.empty()) known += " '" + place.at + "'";
                       }
                       return known;
                     }());
}

std::string for_fish(const std::vector<Place>& places) {
  std::string text = R"(# Completion of hearsay(1) for fish, made by `hearsay completion fish`.
function __hearsay_at
    set -l words (string match -v -- '-*' (commandline -opc)[2..-1])
    set -l n (count $argv)
    test (count $words) -ge $n; and test "$words[1..$n]" = "$argv"
end
complete -c hearsay -n 'not __fish_seen_subcommand_from )" +
                     words_of(places.front().commands) + "' -f\n";
  for (const Place& place : places) {
    const std::string when =
        place.at.empty() ? "__fish_use_subcommand" : "__hearsay_at " + place.at;
    for (const Candidate& each : place.commands) {
      text +=
          fmt::format("complete -c hearsay -n '{}' -a '{}' -d '{}'\n", when, each.word, each.about);
    }
    for (const Candidate& each : place.options) {
      text += fmt::format("complete -c hearsay -n '{}' -l '{}' -d '{}'\n", when,
                          each.word.substr(2), each.about);
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& program, std::string_view shell) {
  std::vector<Place> places;
  add_places(program, "", places);
  if (shell == "bash") return for_bash(places);
  if (shell == "zsh") return for_zsh(places);
  return shell == "fish" ? for_fish(places) : std::string();
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
