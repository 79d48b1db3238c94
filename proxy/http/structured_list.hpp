// Reads a list of Structured Fields (RFC 8941), member by member.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proxy::http {

// One bare item (RFC 8941 3.3), as a view into the text that was read.
struct BareItem {
  enum class Type : std::uint8_t { number, string, token, bytes, boolean };

  Type type = Type::boolean;
  std::string_view text = "1";  // without delimiters; a string's escapes are still in place

  // What a string or a token says; empty for any other type.
  [[nodiscard]] std::string words() const;
};

// An item and its parameters; of two with one key the last holds.
struct Member {
  struct Parameter {
    std::string_view key;
    BareItem value;
  };

  BareItem item;
  boost::container::small_vector<Parameter, 8> parameters;

  // Null if there is no such parameter.
  [[nodiscard]] const BareItem* find(std::string_view key) const;
};

// The members of one line of a list field. Strict: whatever departs from the grammar of section
// 4.2.1 ends it and all of the field says nothing then; so do inner lists and more than
// kMaxParameters on one member, which no field that we read has. Allocates nothing but for a member
// with more than eight parameters. The text must outlive the members.
class StructuredList {
 public:
  static constexpr std::size_t kMaxParameters = 64;

  explicit StructuredList(std::string_view line);

  // The next member, or nothing: at the end, or when failed() from then on.
  std::optional<Member> next();
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  bool read(Member& member);
  bool read_parameters(Member& member);
  bool read_separator();
  std::optional<BareItem> read_item();
  std::optional<BareItem> read_string();
  std::optional<BareItem> read_number();
  std::optional<BareItem> read_bytes();
  std::string_view take(std::size_t count);
  [[nodiscard]] bool at(char c) const { return !rest_.empty() && rest_.front() == c; }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace proxy::http
