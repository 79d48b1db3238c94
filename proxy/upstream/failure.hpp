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

namespace proxy {

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
};

// How many kinds Failure::What has.
inline constexpr std::size_t kFailures = 10;

template <class T>
using Outcome = boost::system::result<T, Failure>;

// What an error of reading, writing or connecting means.
Failure failure_of(Failure::Where where, boost::system::error_code cause);
// Whether a failure of this kind is an origin's own, or the way's to it: neither ours, nor a
// rule's, nor the name servers'.
bool is_of_origin(Failure::What what);
// Whether there was no answer at all, so that the server or the network to it must be down.
bool out_of_reach(const Failure& failure);
// Whether the server has hung up or sent no HTTP, perhaps because of what it was asked for.
bool may_be_refusal(const Failure& failure);
unsigned status_for(const Failure& failure);
// The setting that a message's head exceeded, such as "limits.head"; empty: none.
std::string_view exceeded_setting(const Failure& failure);
// One line for the person who sees the error page.
std::string text(const Failure& failure);
// What that person can do about it, in a sentence; empty: nothing special.
std::string_view advice_for(const Failure& failure);
// Short and without spaces, for Cache-Status and logs.
std::string_view word(Failure::What what);

[[noreturn]] void throw_exception_from_error(const Failure& failure,
                                             const boost::source_location& where);

}  // namespace proxy
