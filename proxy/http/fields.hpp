// The fields of a message head, in order, as views into the bytes of the head; and copies that
// outlive it.
#pragma once

#include <algorithm>
#include <array>
#include <boost/beast/http/field.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/core/noncopyable.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace proxy::http {

using field = boost::beast::http::field;

// Which registered field a name is. `unknown` for a text that is not a registered name, in any
// case. A text with another result is therefore a token. Of a token, the result is that of Beast's
// string_to_field(), for a third of the instructions.
field field_id(std::string_view name);

inline bool holds(std::span<const field> ids, field id) {
  return std::ranges::find(ids, id) != ids.end();
}

// Registered fields, known when the program is compiled: to ask costs the same for any number.
class FieldSet {
 public:
  template <class... Ids>
  explicit constexpr FieldSet(Ids... ids) {
    ((words_[static_cast<std::size_t>(ids) / 64] |= mark_of(ids)), ...);
  }
  [[nodiscard]] constexpr bool has(field id) const {
    return (words_[static_cast<std::size_t>(id) / 64] & mark_of(id)) != 0;
  }

 private:
  static constexpr std::uint64_t mark_of(field id) {
    return std::uint64_t{1} << (static_cast<unsigned>(id) % 64);
  }
  std::array<std::uint64_t, static_cast<std::size_t>(field::xref) / 64 + 1> words_{};
};

struct Field {
  field id = field::unknown;  // `unknown` for an unregistered name
  std::string_view name;      // as received
  std::string_view value;     // without white space at either end
  // Whether the response to the request may depend on the field though Vary does not name it.
  bool selects = false;
  // The text from the name's begin to two bytes after the value is "name: value\r\n", a line as we
  // write it. Code that sets the name or the value sets this to false.
  bool in_line = false;

  // The whole line of the field; empty if there is none.
  std::string_view line() const {
    if (!in_line) return {};
    return {name.data(), static_cast<std::size_t>(value.data() + value.size() + 2 - name.data())};
  }
};

// A list of fields. It owns no text: the bytes must outlive it and must not move.
class Fields {
 public:
  using Lines = boost::container::small_vector<Field, 24>;
  using const_iterator = Lines::const_iterator;

  void append(std::string_view name, std::string_view value);
  void append(field id, std::string_view name, std::string_view value) {
    append({id, name, value});
  }
  void append(const Field& line) {
    lines_.push_back(line);
    any_selects_ = any_selects_ || line.selects;
    ids_ |= mark_of(line.id);
  }
  void clear() {
    lines_.clear();
    any_selects_ = false;
    ids_ = 0;
  }
  // Whether the response may depend on a field that Vary does not name (Field::selects).
  bool any_selects() const { return any_selects_; }

  // The first line with this name, or null. The text overload is for unregistered names, in any
  // case.
  const Field* find(field id) const { return may_have(id) ? search(id) : nullptr; }
  const Field* find(std::string_view name) const;
  bool has(field id) const { return find(id) != nullptr; }
  // False for nearly every field that is absent: rules ask for many fields, and most are.
  bool may_have(field id) const { return (ids_ & mark_of(id)) != 0; }
  std::size_t count(field id) const;
  // The value of the first line; empty if there is none.
  std::string_view value(field id) const;
  // The value of the only line with this unregistered name; empty if there is none, or several.
  std::string_view only_value(std::string_view name) const;

  const_iterator begin() const { return lines_.begin(); }
  const_iterator end() const { return lines_.end(); }
  std::size_t size() const { return lines_.size(); }
  bool empty() const { return lines_.empty(); }

 private:
  static std::uint64_t mark_of(field id) {
    return std::uint64_t{1} << (static_cast<unsigned>(id) % 64);
  }
  const Field* search(field id) const;

  Lines lines_;
  std::uint64_t ids_ = 0;  // the marks of all lines
  bool any_selects_ = false;
};

// The position where the first member of a list ends: at its comma, else at the end of the text. A
// comma inside a quoted-string does not separate. A quote that never closes extends to the end.
std::size_t member_end(std::string_view list);

// Iterates over the members of a #rule list (RFC 9110 5.6.1) in all lines of one field, in order.
// Skips empty members and drops white space around members. A comma inside a quoted-string does not
// separate. A quote that never closes extends to the end of its line.
class Members {
 public:
  Members(const Fields& fields, field id)
      : line_(fields.may_have(id) ? fields.begin() : fields.end()), end_(fields.end()), id_(id) {}
  explicit Members(std::string_view value) : rest_(value) {}
  // Returns the next member, or nothing at the end.
  std::optional<std::string_view> next();

 private:
  bool next_line();

  std::string_view rest_;
  Fields::const_iterator line_{};
  Fields::const_iterator end_{};
  field id_ = field::unknown;
};

// Whether a list field, such as Connection, contains this member, in any case.
bool has_member(const Fields& fields, field id, std::string_view member);

// Returns the lines for which `is_dropped` is false. Returns nothing if no line is dropped.
template <class Dropped>
std::optional<Fields> without(const Fields& fields, const Dropped& is_dropped) {
  if (std::ranges::none_of(fields, is_dropped)) return std::nullopt;
  Fields others;
  for (const Field& line : fields) {
    if (!is_dropped(line)) others.append(line);
  }
  return others;
}

// How many bytes the text of the fields has.
inline std::size_t text_size(const Fields& fields) {
  std::size_t size = 0;
  for (const Field& line : fields) size += line.name.size() + line.value.size();
  return size;
}

// Copies the text of the fields to `memory`, which has text_size() bytes, and returns the fields as
// views of that copy.
Fields copied_to(char* memory, const Fields& fields);

// A copy of fields together with the text that they refer to. Immutable; does not move.
class OwnedFields : boost::noncopyable {
 public:
  explicit OwnedFields(const Fields& original);

  const Fields& fields() const { return fields_; }

 private:
  std::string text_;
  Fields fields_;
};

}  // namespace proxy::http
