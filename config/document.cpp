#include "config/document.hpp"

#include <set>
#include <utility>

#include "config/text.hpp"
#include "config/tokens.hpp"

namespace config {

namespace {

constexpr std::size_t kDeepest = 16;  // the settings need four

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

// A parser of a library says that it expected something else at a place; this one knows what people
// mistake, and says what to write. kDeepest bounds its recursion.
class Parser {
 public:
  Parser(std::string_view text, Faults& faults) : scanner_(text), faults_(faults) {}

  // Nothing: the last fault says why.
  std::optional<Value> run() {
    Value root;
    auto slip = read_all(root);
    if (!slip) return root;
    faults_.push_back(std::move(*slip));
    return std::nullopt;
  }

 private:
  // A bracket that is not closed yet.
  struct Open {
    char mark;
    TextPosition at;
    std::size_t indent;  // of its line

    [[nodiscard]] char closing() const { return mark == '{' ? '}' : ']'; }
  };

  Slip read_all(Value& root) {
    if (auto slip = advance()) return slip;
    if (token_.kind == Token::Kind::end) {
      return slip(token_.at, "is empty; the least settings are {}");
    }
    if (auto slip = read_value(root, "")) return slip;
    if (auto slip = advance()) return slip;
    if (token_.kind == Token::Kind::end) return std::nullopt;
    if (token_.closes()) return slip(token_.at, "one " + std::string(token_.text) + " too many");
    return slip(token_.at, "the settings end before this; one object in braces holds them all");
  }

  Slip advance() {
    const bool is_first = token_.kind == Token::Kind::end;
    before_ = token_;
    auto [token, fault] = scanner_.next();
    token_ = token;
    if (is_first) begin_ = token_.at;
    if (token_.at.line != line_) {
      line_ = token_.at.line;
      indent_ = token_.at.column;
    }
    // A word that JSON does not know, before anything else: the file is no JSON at all.
    const bool is_foreign = is_first || (open_.size() == 1 && before_.is('['));
    if (token_.kind == Token::Kind::word && is_foreign && (fault || unknown_word(token_.text))) {
      return slip(
          begin_,
          "this is no JSON (YAML, or another form, perhaps); the settings are one object in "
          "braces, such as { \"name\": \"cache-a\" }");
    }
    // Before something foreign, a missing comma is the less likely slip.
    if (fault || token_.kind != Token::Kind::end || open_.empty()) return fault;
    // The end of the file only tells that some bracket is missing. The indentation tells which.
    if (suspect_) return suspect_;
    return slip(open_.back().at, std::string("this ") + open_.back().mark +
                                     " is not closed; add a " + open_.back().closing() +
                                     " behind the last item in it");
  }

  // Reads the value that begins with the token.
  Slip read_value(Value& into, const std::string& path) {
    if (token_.closes() && before_.is(',')) return comma_before();
    if (token_.closes()) return slip(token_.at, "a value is missing before " + said(token_.text));
    if (token_.is(',')) {
      return slip(token_.at, before_.is(',') ? "one comma too many" : "a value is missing here");
    }
    if (token_.is(':'))
      return slip(token_.at, "a colon follows a key only, in an object in braces");
    if (token_.opens()) return read_within(into, path);
    if (token_.kind == Token::Kind::word) {
      if (auto how = unknown_word(token_.text)) return slip(token_.at, std::move(*how));
    }
    into = {token_.at, content_of(token_)};
    return std::nullopt;
  }

  // Reads a list or an object, whose bracket the token is.
  Slip read_within(Value& into, const std::string& path) {
    if (open_.size() == kDeepest) {
      return slip(token_.at,
                  "is nested deeper than any setting (" + std::to_string(kDeepest) + " levels)");
    }
    into.at = token_.at;
    open_.push_back({token_.text.front(), token_.at, indent_});
    if (token_.is('{')) {
      auto& members = into.content.emplace<Object>();
      std::set<std::string> keys;
      return read_items([&] { return read_member(members, keys, path); });
    }
    auto& items = into.content.emplace<Array>();
    return read_items([&] {
      const auto below = path_of(path, items.size());
      return read_value(items.emplace_back(), below);
    });
  }

  // Only a comma or the end may follow an item. The place of a missing one is behind the item, not
  // at the next token, which is often in another line.
  template <class ReadItem>
  Slip read_items(ReadItem read_item) {
    if (auto slip = advance()) return slip;
    if (token_.is(open_.back().closing())) return close();
    for (;;) {
      if (auto slip = read_item()) return slip;
      if (auto slip = advance()) return slip;
      if (token_.closes()) return close();
      if (token_.is(':') && open_.back().mark == '[') {
        return slip(open_.back().at, "this list has keys; write it as an object in braces");
      }
      if (token_.is(':')) return slip(token_.at, "one colon too many");
      if (!token_.is(',')) return missing("comma");
      if (auto slip = advance()) return slip;
    }
  }

  Slip read_member(Object& members, std::set<std::string>& keys, const std::string& path) {
    if (token_.closes() && before_.is(',')) return comma_before();
    if (token_.is(',')) return slip(token_.at, "one comma too many");
    if (token_.kind == Token::Kind::word) {
      return slip(token_.at, "a key is written in double quotes: " + in_quotes(token_.text));
    }
    if (token_.kind != Token::Kind::string) {
      return slip(token_.at, "expected a key in double quotes; found " + said(token_.text));
    }
    Member& member = members.emplace_back(Member{unescaped(token_.text), token_.at, {}});
    const auto below = path_of(path, member.key);
    // RFC 8259 section 4 leaves open which of the two counts, and parsers differ.
    if (!keys.insert(member.key).second) {
      faults_.push_back({token_.at, below, "is given twice; keep one of the two"});
    }
    if (auto slip = advance()) return slip;
    if (!token_.is(':')) return missing("colon");
    if (auto slip = advance()) return slip;
    return read_value(member.value, below);
  }

  [[nodiscard]] Slip missing(const std::string& mark) const {
    return slip(before_.after, "a " + mark + " is missing here, after " + said(before_.text));
  }

  [[nodiscard]] Slip comma_before() const {
    return slip(before_.at, "no comma may stand before " + said(token_.text) + "; take it out");
  }

  // The token closes the innermost bracket.
  Slip close() {
    const Open opened = open_.back();
    const auto mark = std::string(1, opened.closing());
    if (!token_.is(opened.closing())) {
      return slip(token_.at, "expected " + mark + " for the " + opened.mark + " of line " +
                                 std::to_string(opened.at.line) + ", column " +
                                 std::to_string(opened.at.column) + "; found " +
                                 std::string(token_.text));
    }
    // Whoever indents ends an object below its beginning. If a bracket turns out to be missing,
    // this one has closed another than was meant.
    const bool begins_line = token_.at.column == indent_ && before_.at.line != token_.at.line;
    if (!suspect_ && begins_line && indent_ < opened.indent) {
      suspect_ = slip(opened.at, std::string("this ") + opened.mark + " is not closed: the " +
                                     mark + " of line " + std::to_string(token_.at.line) +
                                     " is meant for what is around it; add a " + mark +
                                     " behind the last item in it");
    }
    open_.pop_back();
    return std::nullopt;
  }

  TokenScanner scanner_;
  Faults& faults_;
  std::vector<Open> open_;
  Slip suspect_;  // for the case that a bracket is missing: one that was probably closed too late
  Token token_;
  Token before_;
  TextPosition begin_;  // of the first token
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
