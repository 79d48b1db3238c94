#include "proxy/command/squid/regex.hpp"

#include <algorithm>
#include <array>

namespace proxy::command::squid {
namespace {

constexpr std::size_t kMostTexts = 64;
constexpr std::size_t kLongest = 256;
constexpr std::size_t kDeepest = 8;

// Anchors, as they stand in the texts until they are taken off their ends.
constexpr char kStart = '\x01';
constexpr char kEnd = '\x02';

using Parts = std::vector<std::string>;
using Read = std::optional<Parts>;

Read joined(const Parts& before, const Parts& after) {
  if (before.size() * after.size() > kMostTexts) return std::nullopt;
  Parts all;
  for (const std::string& a : before) {
    for (const std::string& b : after) {
      if (a.size() + b.size() > kLongest) return std::nullopt;
      all.push_back(a + b);
    }
  }
  return all;
}

struct Repeated {
  std::string_view expression;
  std::string_view glob;
};
constexpr std::array kRepeated{Repeated{".*", "*"}, Repeated{".+", "?*"}, Repeated{"[^/]*", "\x04"},
                               Repeated{"[^/]+", "\x04"}};
static_assert(kRepeated[2].glob.front() == kNoSlash);

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Read whole() {
    auto parts = choice(0);
    return text_.empty() ? parts : std::nullopt;
  }

 private:
  bool takes(std::string_view mark) {
    if (!text_.starts_with(mark)) return false;
    text_.remove_prefix(mark.size());
    return true;
  }

  Read choice(std::size_t depth) {
    Parts all;
    do {
      auto sequence = this->sequence(depth);
      if (!sequence || all.size() + sequence->size() > kMostTexts) return std::nullopt;
      all.insert(all.end(), sequence->begin(), sequence->end());
    } while (takes("|"));
    return all;
  }

  Read sequence(std::size_t depth) {
    Read all = Parts{""};
    while (!text_.empty() && text_.front() != '|' && text_.front() != ')') {
      auto next = item(depth);
      if (!next) return std::nullopt;
      all = joined(*all, *next);
      if (!all) return std::nullopt;
    }
    return all;
  }

  // An atom with what repeats it.
  Read item(std::size_t depth) {
    for (const auto& [repeated, glob] : kRepeated) {
      if (takes(repeated)) return repeats_again() ? std::nullopt : Read({std::string(glob)});
    }
    auto parts = atom(depth);
    if (!parts) return std::nullopt;
    if (takes("?")) parts->push_back("");
    return repeats_again() || parts->size() > kMostTexts ? std::nullopt : parts;
  }

  bool repeats_again() const {
    return !text_.empty() && std::string_view("?*+{").find(text_.front()) != std::string_view::npos;
  }

  Read atom(std::size_t depth) {
    if (takes("^")) return Parts{{kStart}};
    if (takes("$")) return Parts{{kEnd}};
    if (takes("(")) return group(depth);
    if (takes("[")) return set();
    if (takes(".")) return Parts{"?"};
    const bool escaped = takes("\\");
    if (text_.empty()) return std::nullopt;
    const char c = text_.front();
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool special = std::string_view("*+?{}").find(c) != std::string_view::npos;
    if (c <= ' ' || c > '~' || c == '*' || (escaped ? letter : special)) return std::nullopt;
    text_.remove_prefix(1);
    return Parts{{c == '?' ? kQuestionMark : c}};
  }

  Read group(std::size_t depth) {
    if (depth == kDeepest) return std::nullopt;
    if (text_.starts_with("?") && !takes("?:")) return std::nullopt;
    auto parts = choice(depth + 1);
    if (!parts || !takes(")")) return std::nullopt;
    return parts;
  }

  // "[34]": few single characters. Who writes "[i|u]" means the letters, and a URL has no bar.
  Read set() {
    Parts parts;
    while (!text_.empty() && text_.front() != ']') {
      const char c = text_.front();
      if (c == '|') {
        text_.remove_prefix(1);
        continue;
      }
      const bool last = text_.size() > 1 && text_[1] == ']';
      if (c <= ' ' || c > '~' || c == '^' || c == '\\' || c == '[' || c == '*' ||
          (c == '-' && !last)) {
        return std::nullopt;
      }
      parts.push_back({c == '?' ? kQuestionMark : c});
      text_.remove_prefix(1);
      if (parts.size() > 16) return std::nullopt;
    }
    return takes("]") && !parts.empty() ? Read(parts) : std::nullopt;
  }

  std::string_view text_;
};

std::optional<Glob> glob_of(std::string_view text) {
  Glob glob;
  while (text.starts_with(kStart)) {
    glob.from_start = true;
    text.remove_prefix(1);
  }
  while (text.ends_with(kEnd)) {
    glob.to_end = true;
    text.remove_suffix(1);
  }
  for (const char c : text) {
    if (c == kStart || c == kEnd) return std::nullopt;  // matches nothing, or is beyond us
    if (c != '*' || !glob.text.ends_with('*')) glob.text += c;
  }
  return glob;
}

}  // namespace

std::optional<std::vector<Glob>> globs_of(std::string_view expression) {
  const auto parts = Reader(expression).whole();
  if (!parts) return std::nullopt;
  std::vector<Glob> globs;
  for (const std::string& part : *parts) {
    auto glob = glob_of(part);
    if (!glob) return std::nullopt;
    if (std::find(globs.begin(), globs.end(), *glob) == globs.end()) globs.push_back(*glob);
  }
  return globs;
}

}  // namespace proxy::command::squid
