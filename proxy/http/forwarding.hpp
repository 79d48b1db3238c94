// What a proxy changes in a head it passes on (RFC 9110 7.6): hop-by-hop fields, Via, Host,
// framing.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"

namespace proxy::http {

// Which fields of one message end here: the connection fields of RFC 9110 7.6.1,
// Proxy-Authorization (it was for us), and what Connection names, except fields that no connection
// option can take away without changing what the message means (Host, Content-*, Cache-Control,
// Via, ...). Who names kMaxOptions options loses every field that an option can take away. The
// fields must outlive it.
class HopByHop {
 public:
  explicit HopByHop(const Fields& fields);
  bool ends_here(const Field& field) const;

 private:
  static constexpr std::size_t kMaxOptions = 64;  // each is compared with each field

  boost::container::small_vector<std::string_view, 4> options_;
};

// Whether `our_name` has handled this message already: the received-by of any Via member, whatever
// comments stand around it; any case.
bool via_names(const Fields& fields, std::string_view our_name);

// A request head as we send it on, up to and including the empty line.
struct UpstreamRequest {
  std::string_view method;
  std::string_view target;  // origin-form to an origin, absolute-form to a proxy
  std::string_view host;    // Target::authority(): Host is always written anew, first
  const Fields& fields;     // the client's
  int received_minor = 1;   // of the client's HTTP version, for Via
  std::string_view name;    // ours, for Via
  Framing framing = {};
  std::span<const field> without = {};  // end-to-end fields to leave out all the same
  std::span<const Field> extra = {};    // fields to add, after the client's
};
void append_request_head(std::string& out, const UpstreamRequest& request);

// A response's status line and end-to-end fields, each with CRLF, then Via. Content-Length, Age and
// the empty line are left to the caller, and so are the fields in `without`.
void append_response_head(std::string& out, const ResponseHead& head, std::string_view name,
                          std::span<const field> without = {});

void append_status_line(std::string& out, unsigned status, std::string_view reason);
// The phrase registered for a status, or "Unknown".
std::string_view reason_phrase(unsigned status);
void append_field(std::string& out, std::string_view name, std::string_view value);

}  // namespace proxy::http
