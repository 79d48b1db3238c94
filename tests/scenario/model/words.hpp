// How the model reads fields: by code of its own, as plain as can be, since a parser that it shared
// with the proxy would share its errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/scenario/model/message.hpp"

namespace model {

inline constexpr Seconds kForever = 2147483648;  // RFC 9111 1.2.2

// The members of a list, over all lines of the field; commas in quotes do not count.
std::vector<std::string> members(const Fields& fields, std::string_view name);
std::vector<std::string> members(const std::string& line);

// Digits alone, as many as they like.
std::optional<Seconds> number(const std::string& text);

// RFC 9110 5.6.7: the three formats, any weekday. Two digits of a year mean at most 50 years ahead.
std::optional<Seconds> parse_date(const std::string& text, Seconds now);
enum class DateStyle { imf, rfc850, asctime };
std::string date_text(Seconds time, DateStyle style = DateStyle::imf);

// Cache-Control: what it says of one directive (RFC 9111 5.2).
class Control {
 public:
  explicit Control(const Fields& fields);

  bool present() const { return present_; }
  bool unreadable() const { return unreadable_; }  // a quote does not close
  // Said at all, whatever stands behind it: for what forbids.
  bool says(std::string_view name) const;
  // Said with nothing behind it: for what allows.
  bool says_plainly(std::string_view name) const;
  // A number of seconds. Of several the least; one that is none counts as 0.
  std::optional<Seconds> seconds(std::string_view name) const;
  std::optional<Seconds> most_seconds(std::string_view name) const;  // the greatest; none: forever
  // max-stale, whose argument may be absent.
  std::optional<Seconds> max_stale() const;
  // no-cache and private: whether all of the response is meant, and else which fields.
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
