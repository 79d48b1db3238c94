#include "config/document.hpp"

#include <set>
#include <utility>

#include "config/text.hpp"
#include "config/tokens.hpp"

namespace config {

namespace {

constexpr std::size_t kDeepest = 16;  // the settings need four

Slip slip(const Position& at, std::string what) {
  return Fault{at, "", std::move(what)};
}

std::string said(std::string_view text) {
  if (text.starts_with('"') && text.ends_with('"') && text.size() > 1) {
    text = text.substr(1, text.size() - 2);
  }
  return in_quotes(text);
}

// How to write a word that JSON does not know; nothing if it knows the word.
std::optional<std::string> unknown_word(std::string_view word) {
  if (is_json_word(word)) return std::nullopt;
  const std::string lower = lower_case(word);
  if (lower == "true" || lower == "yes" || lower == "on") return "write true";
  if (lower == "false" || lower == "no" || lower == "off") return "write false";
  return "a text is written in double quotes: " + in_quotes(word);
}

// A number stays text: the setting that it belongs to knows its range, and an error shows it as it
// was written.
decltype(Value::content) content_of(const Token& token) {
  if (token.kind == Token::Kind::string) return unescaped(token.text);
  if (token.text == "null") return nullptr;
  if (token.text == "true" || token.text == "false") return token.text == "true";
  return Number{std::string(token.text == "-0" ? "0" : token.text)};
}

// Builds the document token by token. A parser of a library says that it expected something else
// at a place; this one knows what people mistake, and says what to write. The stack of open
// brackets is a vector, so depth costs no recursion.
class Parser {
 public:
  Parser(std::string_view text, Faults& faults) : scanner_(text), faults_(faults) {}

  // Nothing: the last fault says why.
  std::optional<Value> run() {
    for (;;) {
      auto [token, slip] = scanner_.next();
      record_line(token);
      if (token.kind == Token::Kind::word && is_foreign(token, slip.has_value())) slip = no_json();
      // Before something foreign, a missing comma is the less likely slip.
      if (!slip) slip = read(token);
      if (slip) {
        faults_.push_back(std::move(*slip));
        return std::nullopt;
      }
      if (token.kind == Token::Kind::end) return std::move(root_);
      before_ = token;
    }
  }

 private:
  enum class Awaits { value, first_value, key, first_key, colon, comma, end };

  struct Open {
    char mark;
    std::size_t indent;  // of its line
    Value value;
    std::string key{};  // of the member that is being read
    Position key_at{};
    std::set<std::string> keys{};
  };

  void record_line(const Token& token) {
    if (begin_.column == 0) begin_ = token.at;
    if (token.at.line == line_) return;
    line_ = token.at.line;
    indent_ = token.at.column;
  }

  // Whether the file is no JSON at all: before the first brace stands a word that JSON does not
  // know.
  [[nodiscard]] bool is_foreign(const Token& token, bool is_slip) const {
    const bool at_top = awaits_ == Awaits::value && open_.empty();
    const bool in_list = open_.size() == 1 && open_.front().mark == '[' && before_.is('[');
    return (at_top || in_list) && (is_slip || unknown_word(token.text));
  }

  [[nodiscard]] Slip no_json() const {
    return slip(begin_,
                "this is no JSON (YAML, or another form, perhaps); the settings are one object in "
                "braces, such as { \"name\": \"cache-a\" }");
  }

  Slip read(const Token& token) {
    if (token.kind == Token::Kind::end) return read_end(token);
    switch (awaits_) {
      case Awaits::end:
        return token.closes() ? slip(token.at, "one " + std::string(token.text) + " too many")
                              : slip(token.at,
                                     "the settings end before this; one object in braces holds "
                                     "them all");
      case Awaits::value:
      case Awaits::first_value:
        return read_value(token);
      case Awaits::key:
      case Awaits::first_key:
        return read_key(token);
      case Awaits::colon:
        if (!token.is(':')) return missing("colon");
        awaits_ = Awaits::value;
        return std::nullopt;
      case Awaits::comma:
        return read_comma(token);
    }
    return std::nullopt;
  }

  [[nodiscard]] Slip read_end(const Token& token) const {
    if (awaits_ == Awaits::end) return std::nullopt;
    if (open_.empty()) return slip(token.at, "is empty; the least settings are {}");
    // The end of the file only tells that some bracket is missing. The indentation tells which.
    if (suspect_) return suspect_;
    const Open& last = open_.back();
    return slip(last.value.at, std::string("this ") + last.mark + " is not closed; add " +
                                   (last.mark == '{' ? "a }" : "a ]") +
                                   " behind the last item in it");
  }

  Slip read_value(const Token& token) {
    if (token.is(']') && awaits_ == Awaits::first_value) return close(token);
    if (token.closes() && before_.is(',')) return comma_before(token);
    if (token.closes()) return slip(token.at, "a value is missing before " + said(token.text));
    if (token.is(',')) {
      return slip(token.at, before_.is(',') ? "one comma too many" : "a value is missing here");
    }
    if (token.is(':')) return slip(token.at, "a colon follows a key only, in an object in braces");
    if (token.opens()) return open(token);
    if (token.kind == Token::Kind::word) {
      if (auto how = unknown_word(token.text)) return slip(token.at, std::move(*how));
    }
    place({token.at, content_of(token)});
    return std::nullopt;
  }

  Slip read_key(const Token& token) {
    if (token.is('}') && awaits_ == Awaits::first_key) return close(token);
    if (token.closes() && before_.is(',')) return comma_before(token);
    if (token.is(',')) return slip(token.at, "one comma too many");
    if (token.kind == Token::Kind::word) {
      return slip(token.at, "a key is written in double quotes: " + in_quotes(token.text));
    }
    if (token.kind != Token::Kind::string) {
      return slip(token.at, "expected a key in double quotes; found " + said(token.text));
    }
    Open& level = open_.back();
    level.key = unescaped(token.text);
    level.key_at = token.at;
    // RFC 8259 section 4 leaves open which of the two counts, and parsers differ.
    if (!level.keys.insert(level.key).second) {
      faults_.push_back({token.at, path(), "is given twice; keep one of the two"});
    }
    awaits_ = Awaits::colon;
    return std::nullopt;
  }

  // Only a comma or the end may follow a value. The place of a missing one is behind the value, not
  // at the next token, which is often in another line.
  Slip read_comma(const Token& token) {
    if (token.closes()) return close(token);
    const Open& level = open_.back();
    if (token.is(',')) {
      awaits_ = level.mark == '{' ? Awaits::key : Awaits::value;
      return std::nullopt;
    }
    if (token.is(':') && level.mark == '[') {
      return slip(level.value.at, "this list has keys; write it as an object in braces");
    }
    return token.is(':') ? slip(token.at, "one colon too many") : missing("comma");
  }

  [[nodiscard]] Slip missing(const std::string& mark) const {
    return slip(before_.after, "a " + mark + " is missing here, after " + said(before_.text));
  }

  [[nodiscard]] Slip comma_before(const Token& token) const {
    return slip(before_.at, "no comma may stand before " + said(token.text) + "; take it out");
  }

  Slip open(const Token& token) {
    if (open_.size() == kDeepest) {
      return slip(token.at,
                  "is nested deeper than any setting (" + std::to_string(kDeepest) + " levels)");
    }
    const bool is_object = token.is('{');
    open_.push_back({token.text.front(), indent_, {token.at, Array{}}});
    if (is_object) open_.back().value.content = Object{};
    awaits_ = is_object ? Awaits::first_key : Awaits::first_value;
    return std::nullopt;
  }

  Slip close(const Token& token) {
    Open& level = open_.back();
    const Position& opened = level.value.at;
    const char wanted = level.mark == '{' ? '}' : ']';
    const auto mark = std::string(1, wanted);
    if (!token.is(wanted)) {
      return slip(token.at, "expected " + mark + " for the " + level.mark + " of line " +
                                std::to_string(opened.line) + ", column " +
                                std::to_string(opened.column) + "; found " +
                                std::string(token.text));
    }
    // Whoever indents ends an object below its beginning. If a bracket turns out to be missing,
    // this one has closed another than was meant.
    const bool begins_line = token.at.column == indent_ && before_.at.line != token.at.line;
    if (!suspect_ && begins_line && indent_ < level.indent) {
      suspect_ = slip(opened, std::string("this ") + level.mark + " is not closed: the " + mark +
                                  " of line " + std::to_string(token.at.line) +
                                  " is meant for what is around it; add a " + mark +
                                  " behind the last item in it");
    }
    Value whole = std::move(level.value);
    open_.pop_back();
    place(std::move(whole));
    return std::nullopt;
  }

  // Puts a whole value where it belongs.
  void place(Value value) {
    awaits_ = open_.empty() ? Awaits::end : Awaits::comma;
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* items = std::get_if<Array>(&open_.back().value.content)) {
      items->push_back(std::move(value));
    } else {
      Open& level = open_.back();
      std::get<Object>(level.value.content).push_back({level.key, level.key_at, std::move(value)});
    }
  }

  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Open& level : open_) {
      const auto* items = std::get_if<Array>(&level.value.content);
      path = items ? path_of(path, items->size()) : path_of(path, level.key);
    }
    return path;
  }

  TokenScanner scanner_;
  Faults& faults_;
  Awaits awaits_ = Awaits::value;
  std::vector<Open> open_;
  Value root_;
  Slip suspect_;  // for the case that a bracket is missing: one that was probably closed too late
  Token before_;
  Position begin_{0, 0};  // of the first token
  std::size_t line_ = 0;
  std::size_t indent_ = 0;  // of the line: the column of its first token
};

}  // namespace

std::string describe(const Value& value) {
  struct Describe {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool is_true) const { return is_true ? "true" : "false"; }
    std::string operator()(const Number& number) const { return "the number " + number.text; }
    std::string operator()(const std::string& text) const { return in_quotes(text); }
    std::string operator()(const Array&) const { return "a list"; }
    std::string operator()(const Object&) const { return "an object"; }
  };
  return std::visit(Describe{}, value.content);
}

std::string path_of(const std::string& parent, std::string_view key) {
  return parent + (parent.empty() ? "" : ".") + printable(key, 60);
}

std::string path_of(const std::string& parent, std::size_t index) {
  return parent + '[' + std::to_string(index) + ']';
}

std::optional<Value> parse_document(std::string_view text, Faults& faults) {
  if (text.size() > kLongestSettings) {
    faults.push_back(
        {{}, "", "is longer than settings can be (" + to_text(ByteSize{kLongestSettings}) + ")"});
    return std::nullopt;
  }
  return Parser(text, faults).run();
}

}  // namespace config
