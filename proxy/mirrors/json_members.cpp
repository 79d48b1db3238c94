#include "proxy/mirrors/json_members.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "proxy/http/target.hpp"
#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

constexpr unsigned kDeepest = 128;  // of values within each other: each takes a call

// Gives links other values. What belongs to an object is in its Scope.
class LinkFilter {
 public:
  LinkFilter(std::string_view json, std::span<const std::string> names, const LinkTo& link)
      : json_(json), names_(names), link_(link) {}

  struct Scope {
    std::string_view around;  // the name of the member that the object is, or is in
    std::string_view sha256 = {};
    struct Link {
      std::size_t begin;
      std::size_t end;
    };
    std::optional<Link> link = {};  // the last one
  };

  // A member of the object whose value lies between the two places.
  void add(Scope& scope, std::string_view name, std::size_t begin, std::size_t end) {
    if (name == "hashes") scope.sha256 = std::exchange(hash_, {});
    if (json_[begin] != '"') return;
    const auto value = json_.substr(begin + 1, end - begin - 2);
    if (name == "archive_sha256") scope.sha256 = value;
    if (name == "sha256" && scope.around == "hashes") hash_ = value;
    if (!is_link(scope.around, name)) return;
    if (scope.link) change(*scope.link, {});
    scope.link = Scope::Link{begin + 1, end - 1};
  }
  // The object has ended.
  void finish(const Scope& scope) {
    if (scope.link) change(*scope.link, scope.sha256);
  }
  [[nodiscard]] bool failed() const { return failed_; }
  Edits& edits() { return edits_; }

 private:
  [[nodiscard]] bool is_link(std::string_view around, std::string_view name) const {
    return std::ranges::any_of(names_, [&](std::string_view wanted) {
      const auto dot = wanted.find('.');
      if (dot == wanted.npos) return wanted == name;
      return wanted.substr(0, dot) == around && wanted.substr(dot + 1) == name;
    });
  }
  void change(const Scope::Link& at, std::string_view sha256) {
    if (at.end - at.begin > 2 * http::kMaxUrl) return;  // no URL is so long
    std::string url;
    for (auto i = at.begin; i < at.end; ++i) {
      if (json_[i] == '\\' && json_[i + 1] == '/') ++i;
      url += json_[i];
    }
    const auto is_plain = [](std::string_view text) {
      return text.find_first_of("\"\\") == text.npos;
    };
    auto link = is_plain(url) ? link_(url, sha256) : std::nullopt;
    if (!link || !is_plain(*link)) return;
    failed_ = !edits_.add({at.begin, at.end, std::move(*link)}) || failed_;
  }

  std::string_view json_;
  std::span<const std::string> names_;
  const LinkTo& link_;
  Edits edits_{json_.size()};
  std::string_view hash_;  // of the object `hashes` that was read last
  bool failed_ = false;
};

// Reads the text once, from its begin to its end, and copies what is not dropped.
class MemberFilter {
 public:
  // Drops nothing, and tells the links of all members.
  MemberFilter(std::string_view json, LinkFilter& links)
      : json_(json), to_(nullptr), links_(&links) {}
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
  bool read_value(unsigned levels, std::string_view around = {});
  bool read_members(unsigned levels, std::string_view around);
  bool read_elements(unsigned levels, std::string_view around);
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
  LinkFilter* const links_ = nullptr;
};

bool MemberFilter::read_value(unsigned levels, std::string_view around) {
  skip_space();
  if (is_next('"')) return read_string();
  if (is_next('{')) return levels > 0 && read_members(levels - 1, around);
  if (is_next('[')) return levels > 0 && read_elements(levels - 1, around);
  return take("true") || take("false") || take("null") || read_number();
}

// A dropped member takes the comma before it along, or the one behind it, if all members before it
// are dropped.
bool MemberFilter::read_members(unsigned levels, std::string_view around) {
  LinkFilter::Scope scope{around};
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
    if (!take(':')) return false;
    skip_space();
    const auto value = at_;
    if (!read_value(levels, name)) return false;
    const auto end = at_;
    if (links_) links_->add(scope, name, value, end);
    skip_space();
    comma = at_;
    const bool is_last = !take(',');
    if (is_dropped) {
      copied_ = any_stays || is_last ? end : at_;
      within_dropped_ = false;
    }
    any_stays = any_stays || !is_dropped;
    if (!is_last) continue;
    if (links_) links_->finish(scope);
    return take('}');
  }
}

bool MemberFilter::read_elements(unsigned levels, std::string_view around) {
  take('[');
  skip_space();
  if (take(']')) return true;
  do {
    if (!read_value(levels, around)) return false;
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

bool change_links(std::string& json, std::span<const std::string> names, const LinkTo& link) {
  LinkFilter links(json, names, link);
  if (!MemberFilter(json, links).read() || links.failed()) return false;
  links.edits().apply_to(json);
  return true;
}

}  // namespace proxy::mirrors
