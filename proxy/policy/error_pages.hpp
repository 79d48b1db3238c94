// The HTML pages that tell people at a browser why they do not get what they asked for: the
// proxy's own page, or a site's own pages (setting `pages`).
#pragma once

#include <array>
#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

namespace proxy::policy {

// The pages that a site may have of its own, each in the file `ErrorPages::file_of`.
enum class ErrorPage : std::uint8_t {
  blocked,  // by a list (access.block)
  denied,   // forbidden otherwise
  sign_in,  // a user and a password are wanted
  failed,   // the origin, or the way to it, is at fault
  error,    // everything else, and each of the above that has no file
};
inline constexpr std::size_t kErrorPages = 5;

// The meanings of "{{url}}" and the like in a page.
enum class Placeholder : std::uint8_t {
  advice,   // what to do
  client,   // the address of the client
  contact,  // whom to ask
  proxy,    // the name of this proxy
  reason,   // what happened, as the line of text for programs says it
  status,   // "403 Forbidden"
  time,     // "Sun, 06 Nov 1994 08:49:37 GMT"
  title,    // what happened, in a few words
  url,      // of the request
  user,     // who signed in; empty: nobody
};
inline constexpr std::size_t kPlaceholders = 10;

// The value of each placeholder, in the order of the enum: plain text, not HTML.
using ErrorFacts = std::array<std::string_view, kPlaceholders>;

// HTML with placeholders.
class PageTemplate {
 public:
  static constexpr std::size_t kLargest = std::size_t{64} << 10;
  // Bounds what a page can grow to, since a URL can be long.
  static constexpr std::size_t kMostPlaceholders = 64;

  // An error says where: "line 3: ...".
  static boost::system::result<PageTemplate, std::string> parse(std::string html);

  // The page, with the values escaped: nothing in them acts as HTML, in a text or in an attribute
  // in quotes.
  [[nodiscard]] std::string filled(const ErrorFacts& facts) const;

 private:
  struct Gap {
    std::size_t begin = 0;
    std::size_t end = 0;
    Placeholder what = Placeholder::url;
  };

  std::string html_;
  std::vector<Gap> gaps_;
};

// Immutable: any thread.
class ErrorPages {
 public:
  ErrorPages();  // the proxy's own page for everything

  // Reads the pages of a folder; an empty path: none. Blocks. Returns an error for each file that
  // cannot be read or is no page, and for a file *.html that is none of those above: its name may
  // be mistyped. Other files of the folder are left alone.
  static boost::system::result<ErrorPages, config::SettingsErrors> read(const std::string& folder);
  static std::string_view file_of(ErrorPage page);

  [[nodiscard]] std::string filled(ErrorPage page, const ErrorFacts& facts) const;

 private:
  std::array<std::optional<PageTemplate>, kErrorPages> pages_;  // `error` is never empty
};

}  // namespace proxy::policy
