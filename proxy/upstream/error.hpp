// Why an upstream connection could not be had.
#pragma once

#include <boost/system/error_code.hpp>

namespace proxy::upstream {

// Compares equal to the portable conditions errc::timed_out and errc::permission_denied where that
// is what happened, so that callers need not list the enumerators. message() is for people.
enum class Errc {
  name_not_found = 1,  // no such name, or nothing that could be a name
  no_address,          // the name exists and has neither A nor AAAA
  resolver_failed,     // the name servers refuse, fail or cannot be reached
  resolver_timed_out,
  denied_address,     // every address is one that a client may not have us connect to
  blocked_address,    // the same of a list that blocks
  connect_refused,    // a host answered, and refused
  connect_failed,     // no host answered
  connect_timed_out,  // whatever took the time: connecting or the TLS handshake
  tls_failed,         // the handshake broke down
  tls_unverified,     // the certificate leads to nobody we trust
  tls_wrong_name,     // the certificate is for another name or address
  tls_expired,        // the certificate is not valid yet, or no more
};

const boost::system::error_category& upstream_category();

inline boost::system::error_code make_error_code(Errc error) {
  return {static_cast<int>(error), upstream_category()};
}

}  // namespace proxy::upstream

template <>
struct boost::system::is_error_code_enum<proxy::upstream::Errc> : std::true_type {};
