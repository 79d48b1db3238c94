#include "config/document.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "config/slip.hpp"
#include "config/text.hpp"

namespace config {

namespace {

constexpr std::size_t kDeepest = 16;  // the settings need four

// Walks through the text token by token alongside the parser, which does not report positions.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  // The position of the next token, which the parser has accepted. Moves the cursor behind it.
  Position next() {
    skip_to_token();
    const Position start = at_;
    take_token();
    return start;
  }

 private:
  bool sees(std::string_view mark) const { return text_.substr(offset_).starts_with(mark); }
  bool at_end() const { return offset_ >= text_.size(); }

  void step() {
    const bool line_ends = text_[offset_++] == '\n';
    at_ = line_ends ? Position{at_.line + 1, 1} : Position{at_.line, at_.column + 1};
  }

  void step_past(std::string_view mark) {
    while (!at_end() && !sees(mark)) step();
    for (std::size_t i = 0; i < mark.size() && !at_end(); ++i) step();
  }

  void skip_to_token() {
    while (!at_end()) {
      if (sees("//")) {
        step_past("\n");
      } else if (sees("/*")) {
        step_past("*/");
      } else if (std::string_view(" \t\r\n,:").find(text_[offset_]) != std::string_view::npos) {
        step();
      } else {
        return;
      }
    }
  }

  void take_token() {
    if (at_end()) return;
    const char first = text_[offset_];
    step();
    if (first == '"') {
      take_string_tail();
    } else if (std::string_view("{}[]").find(first) == std::string_view::npos) {
      constexpr std::string_view kEnds = " \t\r\n,:]}/";
      while (!at_end() && kEnds.find(text_[offset_]) == std::string_view::npos) step();
    }
  }

  void take_string_tail() {
    while (!at_end() && !sees("\"")) {
      if (sees("\\")) step();
      if (!at_end()) step();
    }
    if (!at_end()) step();
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  Position at_;
};

// nlohmann words a fault like "[code] parse error at line 1, column 2: syntax error while ...".
std::string without_place(std::string_view message) {
  for (const std::string_view mark : {"] ", "column ", ": "}) {
    const std::size_t found = message.find(mark);
    if (found != std::string_view::npos) message.remove_prefix(found + mark.size());
  }
  return printable(message, 200);
}

// Builds the document from the parser's events. The stack is a vector, so depth costs no recursion.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view text, Faults& faults) : text_(text), cursor_(text), faults_(faults) {}

  Value take() { return std::move(root_); }

  bool null() override { return place(Value{cursor_.next(), nullptr}); }
  bool boolean(bool value) override { return place(Value{cursor_.next(), value}); }
  bool number_integer(number_integer_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return number(text); }
  bool string(string_t& text) override { return place(Value{cursor_.next(), std::move(text)}); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Object{}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Array{}); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = open_.back();
    level.key = name;
    level.key_at = cursor_.next();
    if (!level.keys.insert(name).second) {
      faults_.push_back({level.key_at, path(), "is given twice; keep one of the two"});
    }
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    auto slip = find_slip(text_);
    faults_.push_back(
        slip ? std::move(*slip)
             : Fault{position_of(byte), "", "is no JSON: " + without_place(error.what())});
    return false;
  }

 private:
  struct Level {
    Value value;
    std::string key{};  // of the member that is being read
    Position key_at{};
    std::set<std::string> keys{};
  };

  bool number(std::string text) { return place(Value{cursor_.next(), Number{std::move(text)}}); }

  bool open(decltype(Value::content) empty) {
    const Position at = cursor_.next();
    if (open_.size() == kDeepest) {
      faults_.push_back(
          {at, "", "is nested deeper than any setting (" + std::to_string(kDeepest) + " levels)"});
      return false;
    }
    open_.push_back(Level{{at, std::move(empty)}});
    return true;
  }

  bool close() {
    cursor_.next();
    Value whole = std::move(open_.back().value);
    open_.pop_back();
    return place(std::move(whole));
  }

  bool place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* items = std::get_if<Array>(&open_.back().value.content)) {
      items->push_back(std::move(value));
    } else {
      Level& level = open_.back();
      std::get<Object>(level.value.content).push_back({level.key, level.key_at, std::move(value)});
    }
    return true;
  }

  std::string path() const {
    std::string path;
    for (const Level& level : open_) {
      const auto* items = std::get_if<Array>(&level.value.content);
      path = items ? path_of(path, items->size()) : path_of(path, level.key);
    }
    return path;
  }

  Position position_of(std::size_t byte) const {
    Position at;
    for (const char c : text_.substr(0, byte == 0 ? 0 : byte - 1)) {
      at = c == '\n' ? Position{at.line + 1, 1} : Position{at.line, at.column + 1};
    }
    return at;
  }

  std::string_view text_;
  Cursor cursor_;
  Faults& faults_;
  std::vector<Level> open_;
  Value root_;
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
  Builder builder(text, faults);
  const bool complete = nlohmann::json::sax_parse(
      text, &builder, nlohmann::json::input_format_t::json, true, /*ignore_comments=*/true);
  if (!complete) return std::nullopt;
  return builder.take();
}

}  // namespace config
