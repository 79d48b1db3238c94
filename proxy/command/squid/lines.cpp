#include "proxy/command/squid/lines.hpp"

#include <algorithm>
#include <utility>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

// For messages and comments. Words are taken from the whole line.
constexpr std::size_t kLongestText = 120;
constexpr std::size_t kDeepest = 16;  // as in Squid
constexpr std::string_view kBlanks = " \t\r\n\v\f";

std::string_view without_leading_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

// A comment is empty, as Squid continues neither a comment nor a line by one.
std::string_view parse_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = without_leading_blanks(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.starts_with('#')) return {};
  // Files that were edited on Windows end their lines by CRLF.
  return line.substr(0, line.find('\r'));
}

// Within a continued line, Squid passes over comments and empty lines.
std::string_view parse_next_part(std::string_view& text, std::size_t& number) {
  std::string_view part;
  while (part.empty() && !text.empty()) {
    part = parse_line(text);
    ++number;
  }
  return part;
}

Word parse_word(std::string_view& text) {
  const char quote = text.front();
  // A quote that is never closed is a character like any other, as in an expression.
  const bool opens = quote == '"' || quote == '\'';
  const auto close = opens ? text.find(quote, 1) : text.npos;
  const bool quoted = close != text.npos;
  const auto end = quoted ? close + 1 : std::min(text.find_first_of(kBlanks), text.size());
  Word word{std::string(quoted ? text.substr(1, close - 1) : text.substr(0, end)), quoted};
  text.remove_prefix(end);
  return word;
}

// Passwords do not belong into messages.
std::string without_secrets(const std::string& text) {
  for (const std::string_view secret : {" login=", "cachemgr_passwd "}) {
    const auto at = text.find(secret);
    if (at == text.npos) continue;
    const auto begin = at + secret.size();
    const auto end = std::min(text.find(' ', begin), text.size());
    return text.substr(0, begin) + "..." + text.substr(end);
  }
  return text;
}

std::string one_blank_between(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 4 * kLongestText)) {
    const bool blank = kBlanks.find(c) != kBlanks.npos;
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  return config::printable(without_secrets(out), kLongestText);
}

class SquidConfReader {
 public:
  SquidConfReader(const Files& files, Findings& findings) : files_(files), findings_(findings) {}

  void read(std::string_view text, const std::string& file, std::size_t depth) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    // Editors on Windows may begin a file so, and its first directive would be unknown.
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::size_t number = 0;
    while (!text.empty() && lines_.size() < kMostLines) {
      // The order counts through all files, as Squid reads them. The number is that in this file.
      const LineSource source{++order_, file, ++number};
      std::string whole(parse_line(text));
      while (whole.ends_with('\\')) {
        whole.pop_back();
        if (text.empty()) break;
        whole += parse_next_part(text, number);
      }
      parse(source, whole, depth);
    }
    if (lines_.size() >= kMostLines && !std::exchange(full_, true)) {
      tell({++order_, file, number}, "", "has more lines than an import reads; split the file");
    }
  }

  std::vector<Line> lines() && { return std::move(lines_); }

 private:
  void parse(const LineSource& source, std::string_view text, std::size_t depth) {
    auto words = words_of(text);
    if (words.empty()) return;
    Line line{source, one_blank_between(text), std::move(words.front().text), {}, open_ifs_ > 0};
    words.erase(words.begin());
    line.words = std::move(words);
    if (line.name == "include") return include(line, depth);
    if (line.name == "if") ++open_ifs_;
    if (line.name == "endif" && open_ifs_ > 0) --open_ifs_;
    const bool branches = line.name == "if" || line.name == "else" || line.name == "endif";
    if (line.name == "if") {
      tell(source, line.text,
           "Hearsay has no conditions: of the lines up to endif, each http_access deny is carried "
           "over and nothing else; write one settings file for each case");
    }
    // The lines of both branches are read: what each part may make of them differs.
    if (!branches) lines_.push_back(std::move(line));
  }

  void include(const Line& line, std::size_t depth) {
    if (depth == kDeepest)
      return tell(line.source, line.text, "files include each other too deeply");
    for (const Word& pattern : line.words) {
      const auto paths = files_.matching(pattern.text);
      const bool is_glob = pattern.text.find_first_of("*?[") != std::string::npos;
      if (paths.empty() && !is_glob) tell(line.source, line.text, "there is no such file");
      // In the place of the line: the order of acls and access lines decides.
      for (const auto& path : paths) include_file(line, path, depth);
    }
  }

  void include_file(const Line& line, const std::string& path, std::size_t depth) {
    // Files that include each other would grow without end.
    if (++included_ > kMostFiles) {
      if (included_ == kMostFiles + 1) tell(line.source, line.text, "too many files are included");
      return;
    }
    const auto text = files_.read(path);
    if (!text) return tell(line.source, line.text, "cannot be read: " + config::in_quotes(path));
    read(*text, path, depth + 1);
  }

  void tell(const LineSource& source, std::string line, std::string what) {
    findings_.push_back({source, Finding::Fate::left, std::move(line), std::move(what)});
  }

  const Files& files_;
  Findings& findings_;
  std::vector<Line> lines_;
  std::size_t order_ = 0;
  std::size_t included_ = 0;
  std::size_t open_ifs_ = 0;
  bool full_ = false;
};

}  // namespace

void Findings::add(const Line& line, Finding::Fate fate, std::string what) {
  push_back({line.source, fate, line.text, std::move(what)});
}

std::string origin_of(const LineSource& source) {
  return config::printable(source.file, 200) + ':' + std::to_string(source.number);
}

bool has_word(const Line& line, std::string_view word) {
  return std::any_of(line.words.begin(), line.words.end(),
                     [word](const Word& each) { return each.text == word; });
}

std::vector<Line> read_lines(std::string_view text, const std::string& file, const Files& files,
                             Findings& findings) {
  SquidConfReader reader(files, findings);
  reader.read(text, file, 0);
  return std::move(reader).lines();
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (;;) {
    text = without_leading_blanks(text);
    if (text.empty() || text.front() == '#') return words;
    words.push_back(parse_word(text));
  }
}

}  // namespace proxy::command::squid
