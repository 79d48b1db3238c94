// Why a request could not be answered as asked: the side at fault, and the kind of fault. Nothing
// else decides the status that the client sees.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::upstream {

// Why there is no connection to an upstream server. An Errc equals the portable condition
// errc::timed_out or errc::permission_denied if that applies, so callers need not list the
// enumerators. message() is for people.
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
  redirected_out,     // an origin redirects to where this proxy does not follow
  wrong_content,      // the body does not have the digest that names it
  needs_credentials,  // a registry gives an image to nobody without them
  no_token,           // the token server of a registry has no time, or cannot be asked
};

const boost::system::error_category& upstream_category();

inline boost::system::error_code make_error_code(Errc error) {
  return {static_cast<int>(error), upstream_category()};
}

}  // namespace proxy::upstream

template <>
struct boost::system::is_error_code_enum<proxy::upstream::Errc> : std::true_type {};

namespace proxy::upstream {

struct Failure {
  enum class Where : std::uint8_t { client, upstream, us };
  enum class What : std::uint8_t {
    denied,      // our own rules forbid the destination
    no_address,  // the name has no address
    dns,         // the name servers gave no usable answer, so nothing is known of the name
    unreachable,
    timed_out,
    cut,        // the other side ended too early
    malformed,  // the other side violated the protocol
    untrusted,  // TLS could not be set up or verified
    abandoned,  // no request waits for the response any more
    overload,   // a reader fell too far behind, or a limit was reached
  };
  Where where = Where::upstream;
  What what = What::unreachable;
  boost::system::error_code cause{};
  // What a server on the way has said, which is the client's answer, too; 0: nothing.
  std::uint16_t status = 0;
  std::uint32_t retry_after = 0;  // seconds
};

// How many kinds Failure::What has.
inline constexpr std::size_t kFailures = 10;

template <class T>
using Outcome = boost::system::result<T, Failure>;

// The failure that an error of reading, writing or connecting means.
Failure failure_of(Failure::Where where, boost::system::error_code cause);
// Whether the origin, or the network on the way to it, causes failures of this kind: not this
// proxy, not a rule, and not the name servers.
bool is_of_origin(Failure::What what);
// Whether there was no answer at all, so that the server or the network to it must be down.
bool out_of_reach(const Failure& failure);
// Whether no server could be connected to. Unlike out_of_reach(), not one that hung up.
bool is_unreached(const Failure& failure);
// Whether the server has hung up or sent no HTTP, perhaps because of what it was asked for.
bool may_be_refusal(const Failure& failure);
unsigned status_for(const Failure& failure);
// The setting that a message's head exceeded, such as "limits.head"; empty: none.
std::string_view exceeded_setting(const Failure& failure);
// The failure in one line, for the person who sees the error page.
std::string text(const Failure& failure);
// Advice for the same person, in a sentence; empty: nothing special.
std::string_view advice_for(const Failure& failure);
// Short and without spaces, for Cache-Status and logs.
std::string_view word(Failure::What what);

[[noreturn]] void throw_exception_from_error(const Failure& failure,
                                             const boost::source_location& where);

}  // namespace proxy::upstream
