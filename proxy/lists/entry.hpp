// A line of a list file, and what it adds to a list.
//
//   # a comment, also behind an entry after a blank; empty lines mean nothing
//   ads.example.com              a host: it and all below it; ".ads.example.com" is the same
//   0.0.0.0 a.example.com ...    the form of hosts files: the same for each name behind an address
//                                that means this machine (0.0.0.0, 127.0.0.1, ::, ::1)
//   192.0.2.7                    an address: as the host of a URL, and wherever a name leads to it
//   2001:db8::/32                a network, likewise; brackets around IPv6 are accepted
//   http://example.com/ads/      URLs that begin so
//   example.com/ads/             the same for http and https; example.com:8080 is such a prefix too
//
// Hosts count without regard to case and last dots; other names than ASCII stand in their IDNA form
// (xn--...), as in requests. A prefix is made canonical as a request's URL is (http::Target: case
// of scheme and host, default port, userinfo) and then compared byte for byte: "/ads" begins
// "/adsense" too, and "/%61ds" is another path than "/ads". In a hosts file's line a name without a
// dot and an address are the file's own furniture ("127.0.0.1 localhost"), and mean nothing.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/lists/list.hpp"

namespace proxy::lists {

enum class Line { read, unknown, no_room };

// A line without its end; a CR before the end is ignored. Safe on any bytes. An unknown one has
// added nothing, but for names in front of the one that is none.
Line read_line(std::string_view line, ListBuilder& into);

}  // namespace proxy::lists
