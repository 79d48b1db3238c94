// Configurations of Squid for tests, without a file system.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "config/load.hpp"
#include "proxy/command/squid/import.hpp"

namespace proxy::command::squid {

using NamedTexts = std::map<std::string, std::string>;

// Files by their path; a pattern matches the path that it is, and "*" all.
inline Files given(const NamedTexts& texts) {
  return {[texts](const std::string& path) -> std::optional<std::string> {
            const auto found = texts.find(path);
            return found == texts.end() ? std::nullopt : std::optional(found->second);
          },
          [texts](const std::string& pattern) {
            std::vector<std::string> paths;
            for (const auto& [path, text] : texts) {
              if (pattern == "*" || pattern == path) paths.push_back(path);
            }
            return paths;
          }};
}

inline Import imported(std::string_view text, const NamedTexts& texts = {},
                       Denial denial = Denial::more) {
  return import(text, "a.conf", given(texts), denial);
}

// The settings without comments and blanks.
inline std::string settings_of(const Import& import) {
  std::string out;
  std::string_view rest = import.settings;
  while (!rest.empty()) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("//")) continue;
    bool in_text = false;
    for (const char c : line) {
      if (c == '"') in_text = !in_text;
      if (c != ' ' || in_text) out += c;
    }
  }
  return out;
}

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The kinds of the findings about a line, and what they say.
inline std::string told_of(const Import& import, std::size_t number) {
  std::string told;
  for (const Finding& finding : import.findings) {
    if (finding.source.number != number) continue;
    told += finding.fate == Finding::Fate::left      ? "left: "
            : finding.fate == Finding::Fate::wider   ? "wider: "
            : finding.fate == Finding::Fate::changed ? "changed: "
                                                     : "unneeded: ";
    told += finding.what + '\n';
  }
  return told;
}

}  // namespace proxy::command::squid
