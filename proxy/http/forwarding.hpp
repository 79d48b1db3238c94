// What a proxy changes in a head that it forwards (RFC 9110 7.6): hop-by-hop fields, Via, Host,
// framing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {

// The fields of RFC 9110 7.6.1, and the hop-by-hop fields of older specifications.
// Proxy-Authenticate is forwarded: the next proxy sent it, and only the client can answer it.
bool is_connection_field(field id);

// The cookie "hearsay-PORT=..." signs a browser in to the dashboard of a Hearsay, which alone may
// see it. A browser shows it to all servers of that host, and below paths that may be an origin's.
inline constexpr std::string_view kSignInCookie = "hearsay-";
// Takes the first cookie ("name=value") of a Cookie field's value; empty where none is.
std::string_view next_cookie(std::string_view& cookies);
// The cookies that an origin sees: all but those that sign a browser in.
std::string other_cookies(std::string_view value);

// Which fields of a message are not forwarded. These are the connection fields of RFC 9110 7.6.1;
// the fields meant for this proxy, namely Proxy-Authorization and those by which Hearsays talk to
// each other (Hearsay-Epoch, ...); and the fields that Connection names. Connection cannot remove
// fields that change the meaning of the message (Host, Content-*, Cache-Control, Via, ...), nor
// fields that tell the client's address. If Connection names kMaxOptions fields or more, every
// field that it could remove is removed. The fields must outlive this object.
class HopByHop {
 public:
  explicit HopByHop(const Fields& fields);
  bool ends_here(const Field& field) const;
  // Whether Connection names the field, and can remove it.
  bool is_named(const Field& field) const;

 private:
  static constexpr std::size_t kMaxOptions = 64;  // each is compared with each field

  void record(std::string_view connection);

  boost::container::small_vector<std::string_view, 4> options_;
};

// Returns the fields without those that Connection names and can remove. Connection itself and the
// other connection fields stay, because they tell how to treat this connection. Returns nothing if
// no field is to be removed.
std::optional<Fields> without_named(const Fields& fields);

// Whether the message has already passed the proxy `our_name`: whether a Via member has this name
// as its received-by. Ignores case and comments.
bool via_names(const Fields& fields, std::string_view our_name);

// A request head as we forward it, including the empty line. It has no cookie that signs a browser
// in to a Hearsay.
struct UpstreamRequest {
  std::string_view method;
  std::string_view target;  // origin-form to an origin, absolute-form to a proxy
  std::string_view host;    // Target::authority(): Host is always regenerated and comes first
  const Fields& fields;     // the client's, without_named()
  int received_minor = 1;   // the client's HTTP version, for Via
  std::string_view name;    // ours, for Via
  Framing framing = {};
  std::span<const field> without = {};  // end-to-end fields to leave out
  std::span<const Field> extra = {};    // fields to add after the client's
};
void append_request_head(std::string& out, const UpstreamRequest& request);

// The head of a request to an origin, changed into one to a proxy: `site` (scheme and authority)
// before the target makes it absolute-form (RFC 9112 3.2.2), or nothing but `site` in place of "*".
// With an empty `site` the target stays. `authorization`: the value of Proxy-Authorization; empty:
// none.
std::string to_proxy(std::string_view head, std::string_view site, std::string_view authorization);

// Appends the status line and the end-to-end fields of a response, each with CRLF, then Via. The
// caller adds Content-Length, Age and the empty line, and whatever replaces the fields in
// `without`.
void append_response_head(std::string& out, const ResponseHead& head, std::string_view name,
                          std::span<const field> without = {});

// Writes the Via line of this proxy, `name`. `minor`: the minor version of the message that this
// proxy has received.
void write_via(PieceWriter& out, int minor, std::string_view name);

// The status line of a response that is passed on: HTTP/1.1, but ICY for an ICY response.
void write_status_line(PieceWriter& out, const ResponseHead& head);
void write_status_line(PieceWriter& out, unsigned status, std::string_view reason);
void append_status_line(std::string& out, unsigned status, std::string_view reason);
// The registered phrase of a status, or "Unknown".
std::string_view reason_phrase(unsigned status);
void append_field(std::string& out, std::string_view name, std::string_view value);

}  // namespace proxy::http
