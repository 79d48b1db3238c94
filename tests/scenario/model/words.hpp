// The model's own parsers of fields, as plain as possible. Parsers shared with the proxy would
// share its errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/scenario/model/message.hpp"

namespace model {

inline constexpr Seconds kForever = 2147483648;  // RFC 9111 1.2.2

// The members of a list in all lines of the field. Commas in quotes separate nothing.
std::vector<std::string> members(const Fields& fields, std::string_view name);
std::vector<std::string> members(const std::string& line);

// The number that a text of digits states, of any length.
std::optional<Seconds> number(const std::string& text);

// RFC 9110 5.6.7: three formats, any weekday. A year of two digits is at most 50 years ahead.
std::optional<Seconds> parse_date(const std::string& text, Seconds now);
enum class DateStyle { imf, rfc850, asctime };
std::string date_text(Seconds time, DateStyle style = DateStyle::imf);

// The directives of Cache-Control (RFC 9111 5.2).
class Control {
 public:
  explicit Control(const Fields& fields);

  bool present() const { return present_; }
  bool unreadable() const { return unreadable_; }  // a quote does not close
  // The directive is present, with any argument or none. For directives that forbid.
  bool says(std::string_view name) const;
  // The directive is present without an argument. For directives that allow.
  bool says_plainly(std::string_view name) const;
  // The directive's seconds, the least of several. An argument that is no number counts as 0.
  std::optional<Seconds> seconds(std::string_view name) const;
  std::optional<Seconds> most_seconds(
      std::string_view name) const;  // the greatest of several; no argument: forever
  // The seconds of max-stale, whose argument may be absent.
  std::optional<Seconds> max_stale() const;
  // For no-cache and private: whether they mean the whole response, or else the fields they name.
  bool means_all(std::string_view name) const;
  std::vector<std::string> names(std::string_view name) const;

 private:
  struct Directive {
    std::string name;
    std::optional<std::string> argument;  // without its quotes
    bool malformed = false;
  };
  static Directive read(const std::string& member);
  static bool names_fields(const Directive& directive);

  std::vector<Directive> directives_;
  bool present_ = false;
  bool unreadable_ = false;
};

}  // namespace model
