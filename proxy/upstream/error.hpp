// Why there is no connection to an upstream server.
#pragma once

#include <boost/system/error_code.hpp>

namespace proxy::upstream {

// An Errc equals the portable condition errc::timed_out or errc::permission_denied if that applies,
// so callers need not list the enumerators. message() is for people.
enum class Errc {
  name_not_found = 1,  // the name does not exist, or cannot be a name
  no_address,          // the name exists and has neither A nor AAAA
  resolver_failed,     // the name servers refuse, fail or cannot be reached
  resolver_refused,    // they refuse or fail
  resolver_timed_out,
  denied_address,     // a client may not have us connect to any of the addresses
  blocked_address,    // as denied_address, and a list blocks at least one
  connect_refused,    // a host answered with a refusal
  connect_failed,     // no host answered
  connect_timed_out,  // while connecting or during the TLS handshake
  no_descriptors,     // this process may open no more sockets
  tls_failed,         // the handshake broke down
  tls_unverified,     // the certificate is not signed by an authority that we trust
  tls_wrong_name,     // the certificate is for another name or address
  tls_expired,        // the certificate is not valid yet, or no longer
  login_refused,      // a parent does not accept the setting `login`
  no_route,           // the settings allow neither a parent nor the origin
  no_parent_left,     // no parent has a way to the host
  not_the_peer,       // what answers at a neighbour's address is not the neighbour
  unproven_peer,      // it may be the neighbour: the next poll tells
};

const boost::system::error_category& upstream_category();

inline boost::system::error_code make_error_code(Errc error) {
  return {static_cast<int>(error), upstream_category()};
}

}  // namespace proxy::upstream

template <>
struct boost::system::is_error_code_enum<proxy::upstream::Errc> : std::true_type {};
