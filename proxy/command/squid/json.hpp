// A settings file as it is written: ordered, with comments.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace proxy::command::squid {

// A value of JSON. A comment stands in lines of its own above the value, with its key if it has
// one.
class Json {
 public:
  struct Member;
  using Members = std::vector<Member>;
  using Items = std::vector<Json>;

  Json();  // an object without members
  static Json text(std::string_view text);
  static Json number(unsigned long long number);
  static Json truth(bool truth);
  static Json list(Items items);
  static Json texts(const std::vector<std::string>& texts);

  // Of an object: appends a member. The reference is valid until the next one is appended.
  Json& add(std::string key, Json value);
  // Of an object: appends the members of another one.
  void append(Json object);
  Json& comment(std::string text) {
    comments_.push_back(std::move(text));
    return *this;
  }

  [[nodiscard]] bool is_empty_object() const;
  // The text, with a line feed at its end. Bytes that are not ASCII are written as "?".
  [[nodiscard]] std::string written() const;

 private:
  void write(std::string& out, std::size_t indent) const;
  void write_block(std::string& out, std::size_t indent) const;
  [[nodiscard]] bool has_comments_inside() const;
  [[nodiscard]] std::string in_one_line() const;

  std::vector<std::string> comments_;
  std::variant<std::string, Members, Items> content_;  // a string: a scalar, as JSON writes it
};

struct Json::Member {
  std::string key;
  Json value;
};

}  // namespace proxy::command::squid
