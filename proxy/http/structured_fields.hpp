// Reads Structured Fields (RFC 8941), member by member.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proxy::http {

// One bare item (RFC 8941 3.3), as a view into the text.
struct BareItem {
  enum class Type : std::uint8_t { number, string, token, bytes, boolean, inner_list };

  Type type = Type::boolean;
  std::string_view text = "1";  // without delimiters; a string keeps its escapes

  // Returns the content of a string or a token; empty for any other type.
  [[nodiscard]] std::string words() const;
};

// An item and its parameters. If a key occurs twice, the last parameter applies.
struct Member {
  struct Parameter {
    std::string_view key;
    BareItem value;
  };

  std::string_view key;  // in a dictionary
  BareItem item;
  boost::container::small_vector<Parameter, 8> parameters;

  // Finds the parameter of this name. Null if there is none.
  [[nodiscard]] const BareItem* find(std::string_view wanted) const;
};

// A list (RFC 8941 4.2.1), in which an inner list is an error, because no list that we read has
// one. Or a dictionary (4.2.2): if a key occurs twice the last member applies, which the caller
// must handle. An inner list there is returned as text; its items are checked but not separated.
enum class Structure : std::uint8_t { list, dictionary };

// Reads the members of one line strictly. A line fails if it departs from the grammar of section
// 4.2, or if a member has more than kMaxParameters parameters, which no field that we read has. The
// caller must then ignore the whole field. Allocates only for a member with more than eight
// parameters. The text must outlive the members.
class StructuredReader {
 public:
  static constexpr std::size_t kMaxParameters = 64;

  StructuredReader(std::string_view line, Structure structure);
  // Returns the next member, or nothing at the end or once it has failed().
  std::optional<Member> next();
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  bool read(Member& member);
  bool read_parameters(Member& member);
  bool read_separator();
  std::optional<std::string_view> read_key();
  std::optional<BareItem> read_item();
  std::optional<BareItem> read_inner_list();
  std::optional<BareItem> read_string();
  std::optional<BareItem> read_number();
  std::optional<BareItem> read_bytes();
  [[nodiscard]] bool at(char c) const { return !rest_.empty() && rest_.front() == c; }
  bool skip(char c);
  std::string_view take(std::size_t count);

  std::string_view rest_;
  const Structure structure_;
  bool failed_ = false;
};

}  // namespace proxy::http
