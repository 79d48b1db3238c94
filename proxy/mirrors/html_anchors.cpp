#include "proxy/mirrors/html_anchors.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "proxy/http/target.hpp"
#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

constexpr std::string_view kHtmlSpace = " \t\r\n\f";

// Elements whose text has no tags but their own end.
constexpr std::array<std::string_view, 9> kRawText{
    "script", "style", "title", "xmp", "textarea", "iframe", "noembed", "noframes", "noscript"};

struct Reference {
  std::string_view name;
  char stands_for;
};
constexpr std::array<Reference, 6> kReferences{{{"&amp;", '&'},
                                                {"&quot;", '"'},
                                                {"&lt;", '<'},
                                                {"&gt;", '>'},
                                                {"&apos;", '\''},
                                                {"&sol;", '/'}}};

// A reference by number to an ASCII character at the front of the text: "&#43;" or "&#x2b;". Takes
// it off. Nothing: there is none.
std::optional<char> take_number(std::string_view& text) {
  if (!text.starts_with("&#")) return std::nullopt;
  const auto end = text.substr(0, 13).find(';');
  if (end == text.npos) return std::nullopt;
  auto digits = text.substr(2, end - 2);
  const bool is_hex = http::same_word(digits.substr(0, 1), "x");
  if (is_hex) digits.remove_prefix(1);
  unsigned code = 0;
  const auto* const last = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), last, code, is_hex ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != last || code < 0x20 || code > 0x7e) return std::nullopt;
  text.remove_prefix(end + 1);
  return static_cast<char>(code);
}

// Other references stay, for the caller to find.
std::string decoded(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const auto known = std::ranges::find_if(
        kReferences, [value](const Reference& one) { return value.starts_with(one.name); });
    if (known != kReferences.end()) {
      text += known->stands_for;
      value.remove_prefix(known->name.size());
    } else if (const auto c = take_number(value)) {
      text += *c;
    } else {
      text += value.front();
      value.remove_prefix(1);
    }
  }
  return text;
}

// Whether a text that was decoded has the begin of a reference still.
bool has_reference(std::string_view text) {
  for (auto at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    auto end = at + 1;
    while (end < text.size() && http::is_letter(text[end])) ++end;
    if (text.substr(at + 1, 1) == "#" || text.substr(end, 1) == ";") return true;
  }
  return false;
}

// For a value in either kind of quotes.
std::string encoded(std::string_view text) {
  std::string value;
  for (const char c : text) {
    if (c == '\'') {
      value += "&#39;";
      continue;
    }
    const auto known = std::ranges::find(kReferences, c, &Reference::stands_for);
    const bool is_special = known != kReferences.end() && c != '/';
    if (is_special) {
      value += known->name;
    } else {
      value += c;
    }
  }
  return value;
}

// Reads a page once, from its begin to its end.
class PageReader {
 public:
  PageReader(std::string_view html, const LinkTo& link) : html_(html), link_(link) {}

  [[nodiscard]] bool read();
  [[nodiscard]] Edits& edits() { return edits_; }

 private:
  struct Value {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_quoted = false;
  };

  bool skip_past(std::string_view text) {
    const auto found = html_.find(text, at_);
    at_ = found == html_.npos ? html_.size() : found + text.size();
    return found != html_.npos;
  }
  void skip_any(std::string_view of) {
    at_ = std::min(html_.find_first_not_of(of, at_), html_.size());
  }
  std::string_view take_until(std::string_view ends) {
    const auto begin = at_;
    at_ = std::min(html_.find_first_of(ends, at_), html_.size());
    return html_.substr(begin, at_ - begin);
  }
  [[nodiscard]] bool is_next(char c) const { return at_ < html_.size() && html_[at_] == c; }
  bool read_comment();
  bool read_tag();
  bool read_attribute(bool is_anchor, std::optional<Value>& href);
  std::optional<Value> read_value();
  bool change(const Value& value);
  void skip_raw_text(std::string_view element);

  std::string_view html_;
  const LinkTo& link_;
  Edits edits_{html_.size()};
  std::size_t at_ = 0;
};

// Text is skipped up to the next "<". One that begins neither a tag nor a comment is text, too.
bool PageReader::read() {
  for (;;) {
    at_ = std::min(html_.find('<', at_), html_.size());
    if (at_ == html_.size()) return true;
    const char next = at_ + 1 < html_.size() ? html_[at_ + 1] : ' ';
    const bool is_end = next == '/' && at_ + 2 < html_.size() && http::is_letter(html_[at_ + 2]);
    bool is_whole = true;
    if (http::is_letter(next) || is_end) {
      is_whole = read_tag();
    } else if (html_.substr(at_).starts_with("<!--")) {
      is_whole = read_comment();
    } else if (next == '!' || next == '?' || next == '/') {
      is_whole = skip_past(">");
    } else {
      ++at_;
    }
    if (!is_whole) return false;
  }
}

// A comment may also end at once, or with "--!>" (HTML, 13.2.5.43 to 13.2.5.52). A search for "-->"
// alone would take the anchors behind such a comment for a part of it.
bool PageReader::read_comment() {
  at_ += 4;
  for (const std::string_view empty : {">", "->"}) {
    if (!html_.substr(at_).starts_with(empty)) continue;
    at_ += empty.size();
    return true;
  }
  // One search for both: a page of comments would be read to its end by the search for the other.
  for (auto dash = html_.find("--", at_); dash != html_.npos; dash = html_.find("--", dash + 1)) {
    const auto rest = html_.substr(dash + 2);
    if (!rest.starts_with('>') && !rest.starts_with("!>")) continue;
    at_ = dash + (rest.front() == '>' ? 3 : 4);
    return true;
  }
  return false;
}

// A ">" within a quoted value does not end the tag.
bool PageReader::read_tag() {
  const auto begin = at_++;
  const bool is_end = is_next('/');
  if (is_end) ++at_;
  const auto name = http::lower(take_until(" \t\r\n\f/>"));
  std::optional<Value> href;
  for (skip_any(" \t\r\n\f/"); !is_next('>'); skip_any(" \t\r\n\f/")) {
    if (at_ == html_.size() || !read_attribute(name == "a" && !is_end, href)) return false;
  }
  ++at_;
  if (is_end) return true;
  if (href && !change(*href)) return false;
  // Nothing in its place could make a tag of what is around it.
  if (name == "base") return edits_.add({begin, at_, "<!---->"});
  if (name == "plaintext") at_ = html_.size();
  if (std::ranges::find(kRawText, name) != kRawText.end()) skip_raw_text(name);
  return true;
}

// `href`: the value of the first attribute of an anchor with this name.
bool PageReader::read_attribute(bool is_anchor, std::optional<Value>& href) {
  // A "=" at the front is a part of the name (HTML, 13.2.5.32).
  const auto begin = at_;
  if (is_next('=')) ++at_;
  take_until(" \t\r\n\f/>=");
  const auto name = html_.substr(begin, at_ - begin);
  skip_any(kHtmlSpace);
  if (!is_next('=')) return true;
  ++at_;
  skip_any(kHtmlSpace);
  const auto value = is_next('>') ? Value{at_, at_, false} : read_value();
  if (!value) return false;
  if (is_anchor && !href && http::same_word(name, "href")) href = value;
  return true;
}

// Nothing: it does not end.
std::optional<PageReader::Value> PageReader::read_value() {
  if (at_ == html_.size()) return std::nullopt;
  const char quote = html_[at_];
  if (quote != '"' && quote != '\'') {
    const auto begin = at_;
    take_until(" \t\r\n\f>");
    return Value{begin, at_, false};
  }
  const auto begin = ++at_;
  take_until({&quote, 1});
  if (at_ == html_.size()) return std::nullopt;
  return Value{begin, at_++, true};
}

// Only the value changes. Without quotes, a new one could end the tag. No URL is so long as the
// first limit, and none of an index has the references that nobody decodes here.
bool PageReader::change(const Value& value) {
  const auto size = value.end - value.begin;
  if (size > 6 * http::kMaxUrl) return true;
  const auto written = decoded(html_.substr(value.begin, size));
  if (has_reference(written)) return true;
  const auto trimmed = http::trim(written);
  const auto link = link_(trimmed, {});
  if (!link) return true;
  auto text = encoded(*link);
  if (!value.is_quoted) text = '"' + text + '"';
  return edits_.add({value.begin, value.end, std::move(text)});
}

// Up to the end tag, or the end of the page.
void PageReader::skip_raw_text(std::string_view element) {
  while (skip_past("</")) {
    const auto name = html_.substr(at_, element.size());
    const auto behind = html_.substr(std::min(at_ + element.size(), html_.size()), 1);
    const bool ends = behind.empty() || std::string_view(" \t\r\n\f/>").find(behind) != behind.npos;
    if (!http::same_word(name, element) || !ends) continue;
    at_ -= 2;  // the tag is read next
    return;
  }
}

}  // namespace

bool change_anchors(std::string& html, const LinkTo& link) {
  PageReader page(html, link);
  if (!page.read()) return false;
  page.edits().apply_to(html);
  return true;
}

}  // namespace proxy::mirrors
