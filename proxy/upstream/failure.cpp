#include "proxy/upstream/failure.hpp"

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/throw_exception.hpp>
#include <stdexcept>

#include "proxy/http/head_error.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {
namespace {

using What = Failure::What;
namespace error = boost::asio::error;
using upstream::Errc;

struct Words {
  std::string_view word;
  std::string_view text;  // for a person
};
// In the order of Failure::What.
constexpr std::array<Words, kFailures> kWords{{
    {"denied", "this proxy does not connect to that address"},
    {"no-address", "the host name has no address"},
    {"dns", "name resolution failed"},
    {"unreachable", "the server could not be reached"},
    {"timed-out", "it took too long"},
    {"cut", "the connection was cut before the response was complete"},
    {"malformed", "the server's response is not valid HTTP"},
    {"untrusted", "the server's identity could not be verified"},
    {"abandoned", "the request was given up"},
    {"overload", "this proxy is too busy"},
}};

What what_of(Errc error) {
  switch (error) {
    case Errc::denied_address:
    case Errc::blocked_address:
      return What::denied;
    case Errc::name_not_found:
    case Errc::no_address:
      return What::no_address;
    case Errc::resolver_failed:
    case Errc::resolver_refused:
    case Errc::resolver_timed_out:
      return What::dns;
    case Errc::tls_failed:
    case Errc::tls_unverified:
    case Errc::tls_wrong_name:
    case Errc::tls_expired:
      return What::untrusted;
    case Errc::connect_timed_out:
      return What::timed_out;
    case Errc::no_descriptors:
      return What::overload;
    default:
      return What::unreachable;
  }
}

bool is_any_of(boost::system::error_code cause, const auto&... errors) {
  return ((cause == errors) || ...);
}

What what_of(boost::system::error_code cause) {
  if (cause.category() == upstream::upstream_category()) {
    return what_of(static_cast<Errc>(cause.value()));
  }
  if (cause == error::timed_out) return What::timed_out;
  if (is_any_of(cause, error::eof, error::connection_reset, error::broken_pipe,
                boost::asio::ssl::error::stream_truncated,
                boost::beast::http::error::partial_message)) {
    return What::cut;
  }
  const bool no_way = is_any_of(cause, error::connection_refused, error::host_unreachable,
                                error::network_unreachable);
  return no_way ? What::unreachable : What::malformed;
}

}  // namespace

Failure failure_of(Failure::Where where, boost::system::error_code cause) {
  return {where, what_of(cause), cause};
}

bool is_of_origin(What what) {
  return what != What::denied && what != What::dns && what != What::overload &&
         what != What::abandoned;
}

bool out_of_reach(const Failure& failure) {
  return failure.where == Failure::Where::upstream &&
         (failure.what == What::no_address || failure.what == What::dns ||
          failure.what == What::unreachable || failure.what == What::timed_out ||
          failure.what == What::cut);
}

bool may_be_refusal(const Failure& failure) {
  return failure.where == Failure::Where::upstream &&
         (failure.what == What::cut || failure.what == What::malformed);
}

unsigned status_for(const Failure& failure) {
  const bool is_of_client = failure.where == Failure::Where::client;
  switch (failure.what) {
    case What::denied:
      return 403;
    case What::timed_out:
      return is_of_client ? 408 : 504;
    case What::dns:
      return failure.cause == boost::system::errc::timed_out ? 504 : 502;
    case What::overload:
      return 503;
    default:
      return is_of_client ? 400 : 502;
  }
}

std::string_view word(What what) {
  return kWords[static_cast<std::size_t>(what)].word;
}

std::string_view exceeded_setting(const Failure& failure) {
  const auto error = http::head_error_of(failure.cause);
  return error ? http::setting_of(*error) : std::string_view();
}

std::string text(const Failure& failure) {
  std::string line(kWords[static_cast<std::size_t>(failure.what)].text);
  if (failure.what == What::malformed) {
    if (!exceeded_setting(failure).empty()) line = "this proxy refuses the server's response";
    if (failure.where == Failure::Where::client) line = "the request's body is damaged";
  }
  if (failure.cause) line += " (" + failure.cause.message() + ")";
  return line;
}

std::string_view advice_for(const Failure& failure) {
  const bool is_of_client = failure.where == Failure::Where::client;
  if (is_of_client || !is_of_origin(failure.what)) return {};
  if (failure.what == What::no_address) return "Look at the spelling of the address.";
  if (failure.what == What::untrusted || failure.what == What::malformed) {
    return "The fault is at the server, and another try will hardly help.";
  }
  return {};
}

void throw_exception_from_error(const Failure& failure, const boost::source_location& where) {
  boost::throw_exception(std::runtime_error(text(failure)), where);
}

}  // namespace proxy
