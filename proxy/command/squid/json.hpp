// A settings file as it is written: ordered, with comments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::command::squid {

// A value of JSON. A comment stands in lines of its own above the value, with its key if it has
// one.
class Json {
 public:
  struct Member;

  Json() = default;  // an object without members
  static Json text(std::string_view text);
  static Json literal(std::string text);  // a number, true or false
  static Json list(std::vector<Json> items);
  static Json texts(const std::vector<std::string>& texts);

  // Of an object: appends a member. The reference is valid until the next one is appended.
  Json& add(std::string key, Json value);
  // Of an object: appends the members of another one.
  void append(Json object);
  [[nodiscard]] bool has(std::string_view key) const;
  Json& comment(std::string text);

  [[nodiscard]] bool is_empty_object() const { return kind_ == Kind::object && members_.empty(); }
  // Without comments.
  [[nodiscard]] std::string in_one_line() const;
  // The text, with a line feed at its end. Bytes that are not ASCII are written as "?".
  [[nodiscard]] std::string written() const;

 private:
  enum class Kind : std::uint8_t { object, list, scalar };

  void write(std::string& out, std::size_t indent) const;
  [[nodiscard]] bool has_comments_inside() const;

  Kind kind_ = Kind::object;
  std::vector<std::string> comments_;
  std::string scalar_;           // as JSON writes it
  std::vector<Member> members_;  // those of a list have no key
};

struct Json::Member {
  std::string key;
  Json value;
};

// The settings that an import makes. Each part appends its own; an empty object is not written.
struct Imported {
  Json top;  // name, listen, threads
  Json cache;
  std::vector<Json> peers;
  Json after_peers;  // never_direct, forwarded, reverse, forward
  std::vector<Json> rules;
  Json access;
  Json log;
  Json timeouts;
  Json limits;
};

// What the settings' own reader says against `value` of `key` in `section` (empty: at the top);
// empty: nothing. Pure.
std::string fault_of(std::string_view section, const std::string& key, const Json& value);

}  // namespace proxy::command::squid
