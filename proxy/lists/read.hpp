// Reads list files. Their lines, and the entries that they add to a list:
//
//   # a comment, also after an entry and a blank; empty lines are ignored
//   ads.example.com              a host and all hosts below it; ".ads.example.com" is the same
//   0.0.0.0 a.example.com ...    a line of a hosts file: each name that follows an address meaning
//                                this machine (0.0.0.0, 127.0.0.1, ::, ::1)
//   192.0.2.7                    an address: as the host of a URL, and if a name resolves to it
//   2001:db8::/32                a network, likewise; brackets around IPv6 are accepted
//   http://example.com/ads/      URLs that begin with this
//   example.com/ads/             the same for http and https; example.com:8080 is such a prefix too
//
// Hosts are compared without regard to case and trailing dots; non-ASCII names must be in IDNA form
// (xn--...), as in requests. A prefix is made canonical like the URL of a request (http::Target:
// case of scheme and host, default port, userinfo) and then compared byte for byte: "/ads" is also
// a prefix of "/adsense", and "/%61ds" differs from "/ads". In a line of a hosts file, names
// without a dot and further addresses are the file's own entries ("127.0.0.1 localhost") and are
// ignored.
#pragma once

#include <boost/system/result.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"
#include "config/settings.hpp"
#include "proxy/lists/access_lists.hpp"

namespace proxy::lists {

enum class Line { read, unknown, no_room };

// Reads one line without its LF; a CR at its end is ignored. Safe on any bytes. `unknown`: nothing
// was added, except names that precede the word that is not a name.
Line read_line(std::string_view line, ListBuilder& into);

// The lines of a file that were skipped: published lists contain a few lines that are no entries.
struct Skipped {
  std::string path;
  std::uint64_t lines = 0;
  std::uint64_t first = 0;  // the number of the first one, counted from 1
  std::string text;         // its text, printable and shortened
};

// Reads all files that the settings name. Blocks, for some seconds with millions of lines. Returns
// an error for each file that is not a regular file, cannot be read to its end, or has more entries
// than fit into a list.
boost::system::result<AccessLists, config::SettingsErrors> read_lists(
    const config::AccessSettings& access, const std::function<void(const Skipped&)>& tell);

}  // namespace proxy::lists
