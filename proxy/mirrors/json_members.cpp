#include "proxy/mirrors/json_members.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

constexpr unsigned kDeepest = 128;  // of values within each other: each takes a call

// Reads the text once, from its begin to its end, and copies what is not dropped.
class MemberFilter {
 public:
  // `to`: where the copy goes, which may be the begin of the text itself: no byte is read again
  // once another one may be in its place. Null: nothing is copied.
  MemberFilter(std::string_view json, std::span<const std::string> names, char* to)
      : json_(json), names_(names), to_(to) {}

  // Returns the size of the copy.
  std::optional<std::size_t> read() {
    if (!read_value(kDeepest)) return std::nullopt;
    skip_space();
    if (at_ != json_.size()) return std::nullopt;
    copy_up_to(at_);
    return size_;
  }

 private:
  // Each of these reads from at_ on, and returns whether the text there is what it is to be.
  bool read_value(unsigned levels);
  bool read_members(unsigned levels);
  bool read_elements(unsigned levels);
  bool read_string();
  bool read_escape();
  bool read_number();
  bool read_digits();

  [[nodiscard]] bool is_next(char c) const { return at_ < json_.size() && json_[at_] == c; }
  bool take(char c) {
    if (!is_next(c)) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!json_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip_space() {
    constexpr std::string_view kSpace = " \t\r\n";
    at_ = std::min(json_.find_first_not_of(kSpace, at_), json_.size());
  }
  void copy_up_to(std::size_t end) {
    if (to_) std::memmove(to_ + size_, json_.data() + copied_, end - copied_);
    size_ += end - copied_;
    copied_ = end;
  }

  std::string_view json_;
  std::span<const std::string> names_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;  // up to here the text is copied, or dropped
  bool within_dropped_ = false;
  char* const to_;
  std::size_t size_ = 0;  // of the copy
};

bool MemberFilter::read_value(unsigned levels) {
  skip_space();
  if (is_next('"')) return read_string();
  if (is_next('{')) return levels > 0 && read_members(levels - 1);
  if (is_next('[')) return levels > 0 && read_elements(levels - 1);
  return take("true") || take("false") || take("null") || read_number();
}

// A dropped member takes the comma before it along, or the one behind it, if all members before it
// are dropped.
bool MemberFilter::read_members(unsigned levels) {
  take('{');
  skip_space();
  if (take('}')) return true;
  bool any_stays = false;
  for (auto comma = at_;;) {
    skip_space();
    const auto begin = at_;
    if (!read_string()) return false;
    const auto name = json_.substr(begin + 1, at_ - begin - 2);
    const bool is_dropped = !within_dropped_ && std::ranges::find(names_, name) != names_.end();
    if (is_dropped) copy_up_to(any_stays ? comma : begin);
    skip_space();
    within_dropped_ = within_dropped_ || is_dropped;
    if (!take(':') || !read_value(levels)) return false;
    const auto end = at_;
    skip_space();
    comma = at_;
    const bool is_last = !take(',');
    if (is_dropped) {
      copied_ = any_stays || is_last ? end : at_;
      within_dropped_ = false;
    }
    any_stays = any_stays || !is_dropped;
    if (is_last) return take('}');
  }
}

bool MemberFilter::read_elements(unsigned levels) {
  take('[');
  skip_space();
  if (take(']')) return true;
  do {
    if (!read_value(levels)) return false;
    skip_space();
  } while (take(','));
  return take(']');
}

bool MemberFilter::read_string() {
  if (!take('"')) return false;
  while (at_ < json_.size()) {
    const char c = json_[at_++];
    if (c == '"') return true;
    if (static_cast<unsigned char>(c) < ' ') return false;
    if (c == '\\' && !read_escape()) return false;
  }
  return false;
}

bool MemberFilter::read_escape() {
  constexpr std::string_view kEscaped = R"("\/bfnrt)";
  if (!take('u')) return at_ < json_.size() && kEscaped.find(json_[at_++]) != kEscaped.npos;
  const auto digits = json_.substr(at_, 4);
  at_ += digits.size();
  return digits.size() == 4 && http::all(http::kHex, digits);
}

bool MemberFilter::read_number() {
  take('-');
  if (!take('0') && !read_digits()) return false;
  if (take('.') && !read_digits()) return false;
  if (!take('e') && !take('E')) return true;
  if (!take('+')) take('-');
  return read_digits();
}

bool MemberFilter::read_digits() {
  const auto digits = http::leading(http::kDigit, json_.substr(at_));
  at_ += digits.size();
  return !digits.empty();
}

}  // namespace

bool drop_members(std::string& json, std::span<const std::string> names) {
  const auto size = MemberFilter(json, names, nullptr).read();
  if (!size) return false;
  if (*size == json.size()) return true;
  MemberFilter(json, names, json.data()).read();
  json.resize(*size);
  return true;
}

}  // namespace proxy::mirrors
