// The fields of a stored head that rules ask for again and again, found once. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::cache {

// Views into a head. A value is empty if no line has it, or if two lines differ, since the right
// one is unknown.
struct HeadQuotes {
  std::string_view etag;
  std::string_view last_modified;
  std::string_view content_type;
  // The head has Set-Cookie. A stored head lacks the fields that `private` or `no-cache` names.
  bool sets_cookie = false;
};

// Finds the quotes of a head in the form of Entry::head, with CRLF after each line.
HeadQuotes quotes_of(std::string_view head);

// Where the quotes of a head are, in 12 bytes. In a head so long that an extent cannot tell where a
// quote is, the quotes are searched each time.
class QuotePlaces {
 public:
  QuotePlaces() = default;
  explicit QuotePlaces(std::string_view head);

  // Records a line of a head that is being written: its value has `size` bytes from `begin` on.
  // Returns false if an earlier line had a value for the same quote: then only a search of the
  // whole head tells the places.
  bool record(http::field id, std::size_t begin, std::size_t size);

  // The quotes. `head` is the head that they were found in, at the same address or another one.
  [[nodiscard]] HeadQuotes in(std::string_view head) const {
    if (is_far()) return quotes_of(head);
    return {etag_.in(head), last_modified_.in(head), content_type_.in(head), sets_cookie()};
  }
  [[nodiscard]] bool sets_cookie() const { return etag_.flag != 0; }

 private:
  struct Extent {
    std::uint16_t begin = 0;
    std::uint16_t size : 15 = 0;  // 0: there is no value
    std::uint16_t flag : 1 = 0;   // a fact of another kind

    [[nodiscard]] std::string_view in(std::string_view head) const {
      return head.substr(begin, size);
    }
  };
  void put(Extent& extent, std::size_t begin, std::size_t size);
  // Whether a quote lies too far behind in the head for an Extent.
  [[nodiscard]] bool is_far() const { return last_modified_.flag != 0; }

  Extent etag_;           // its flag: sets_cookie()
  Extent last_modified_;  // its flag: is_far()
  Extent content_type_;
};
static_assert(sizeof(QuotePlaces) == 12);

}  // namespace proxy::cache
