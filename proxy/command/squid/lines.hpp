// The lines of a squid.conf as words: comments, continued lines, quotes and included files.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/squid/findings.hpp"

namespace proxy::command::squid {

struct Word {
  std::string text;
  bool quoted = false;

  bool operator==(const Word&) const = default;
};

struct Line {
  Place place;
  std::string text;          // shortened, printable
  std::string name;          // of the directive, such as "http_port"
  std::vector<Word> words;   // the rest
  bool conditional = false;  // between `if` and `endif`
};

// "squid.conf:7".
inline std::string origin_of(const Line& line) {
  return line.place.file + ':' + std::to_string(line.place.number);
}

// Whether one of the words is this.
inline bool has_word(const Line& line, std::string_view word) {
  return std::any_of(line.words.begin(), line.words.end(),
                     [word](const Word& each) { return each.text == word; });
}

inline void tell(Findings& findings, const Line& line, Finding::Kind kind, std::string what) {
  findings.push_back({line.place, kind, line.text, std::move(what)});
}

// Where included files, and the files of values that acl lines name, are read from.
struct Files {
  // The content of a file, at most kMostBytes of it; nothing if it cannot be read.
  std::function<std::optional<std::string>(const std::string& path)> read;
  // The files that match a pattern such as "/etc/squid/conf.d/*.conf", in order.
  std::function<std::vector<std::string>(const std::string& pattern)> matching;
};

inline constexpr std::size_t kMostBytes = 8 << 20;  // of one file
inline constexpr std::size_t kMostLines = 100'000;  // of all files
inline constexpr std::size_t kMostFiles = 200;      // that are included

// Reads a configuration, and the files that it includes in their place. A file that cannot be
// included, and what exceeds the bounds, is a finding. Safe on any bytes.
std::vector<Line> read_lines(std::string_view text, const std::string& file, const Files& files,
                             Findings& findings);

// The words of a text. A word in double or single quotes may have blanks; a word that begins with #
// begins a comment.
std::vector<Word> words_of(std::string_view text);

}  // namespace proxy::command::squid
