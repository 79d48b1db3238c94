// The lines of a squid.conf as words: comments, continued lines, quotes and included files; and
// what an import has to tell about them, and about each directive of Squid.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proxy::command::squid {

// A line of a configuration file. Continued lines count as their first one.
struct LineSource {
  std::size_t order = 0;  // of the line among all lines, those of included files in their place
  std::string file;       // as the command line or `include` names it
  std::size_t number = 0;
};

struct Word {
  std::string text;
  bool quoted = false;
};

struct Line {
  LineSource source;
  std::string text;          // shortened, printable
  std::string name;          // of the directive, such as "http_port"
  std::vector<Word> words;   // the rest
  bool conditional = false;  // between `if` and `endif`
};

struct Finding {
  enum class Fate : std::uint8_t {
    wider,     // not carried over, though it denies: somebody has ordered that
    left,      // not carried over: somebody has to decide
    changed,   // carried over, with a difference
    unneeded,  // nothing to carry over: Hearsay does this by itself
  };

  LineSource source;
  Fate fate;
  std::string line;  // as written, shortened, printable
  std::string what;  // why, and what to do instead
};

class Findings : public std::vector<Finding> {
 public:
  void add(const Line& line, Finding::Fate fate, std::string what);
  void wider(const Line& line, std::string what) {
    add(line, Finding::Fate::wider, std::move(what));
  }
  void left(const Line& line, std::string what) { add(line, Finding::Fate::left, std::move(what)); }
  void changed(const Line& line, std::string what) {
    add(line, Finding::Fate::changed, std::move(what));
  }
  void unneeded(const Line& line, std::string what) {
    add(line, Finding::Fate::unneeded, std::move(what));
  }
};

// What the import makes of a Squid line that denies requests, if no setting of Hearsay denies
// exactly the same requests.
enum class Denial : std::uint8_t {
  more,  // the settings deny more than the line
  less,  // the line is left out, as far as it has no equal: they allow more than Squid
};

// "squid.conf:7", printable.
std::string origin_of(const LineSource& source);

// Whether one of the words is this.
bool has_word(const Line& line, std::string_view word);

// Where included files, and the files of values that acl lines name, are read from.
struct Files {
  // The content of a file, of a longer one the first kMostBytes + 1; nothing if it cannot be read.
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

// Whether a list of items, separated by '|', has this one; "icp_*" is whatever begins so.
bool lists(std::string_view list, std::string_view item);

// Adds findings on the lines whose directive no part of the import reads, and on those that say too
// little and of which no part has told.
void advise(const std::vector<Line>& lines, Findings& findings);

}  // namespace proxy::command::squid
