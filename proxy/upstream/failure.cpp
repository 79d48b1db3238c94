#include "proxy/upstream/failure.hpp"

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

What what_of(boost::system::error_code cause) {
  if (cause == Errc::denied_address || cause == Errc::blocked_address) return What::denied;
  if (cause == Errc::name_not_found || cause == Errc::no_address) return What::no_address;
  if (cause == Errc::resolver_failed || cause == Errc::resolver_refused ||
      cause == Errc::resolver_timed_out) {
    return What::dns;
  }
  if (cause == Errc::tls_failed || cause == Errc::tls_unverified || cause == Errc::tls_wrong_name ||
      cause == Errc::tls_expired) {
    return What::untrusted;
  }
  if (cause == Errc::connect_timed_out || cause == error::timed_out) return What::timed_out;
  if (cause == Errc::no_descriptors) return What::overload;
  if (cause.category() == upstream::upstream_category()) return What::unreachable;
  if (cause == error::eof || cause == error::connection_reset || cause == error::broken_pipe ||
      cause == boost::asio::ssl::error::stream_truncated ||
      cause == boost::beast::http::error::partial_message) {
    return What::cut;
  }
  if (cause == error::connection_refused || cause == error::host_unreachable ||
      cause == error::network_unreachable) {
    return What::unreachable;
  }
  return What::malformed;
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
  switch (failure.what) {
    case What::denied:
      return 403;
    case What::timed_out:
      return failure.where == Failure::Where::client ? 408 : 504;
    case What::dns:
      return failure.cause == boost::system::errc::timed_out ? 504 : 502;
    case What::overload:
      return 503;
    case What::no_address:
    case What::unreachable:
    case What::cut:
    case What::malformed:
    case What::untrusted:
    case What::abandoned:
      break;
  }
  return failure.where == Failure::Where::client ? 400 : 502;
}

std::string_view word(What what) {
  switch (what) {
    case What::denied:
      return "denied";
    case What::no_address:
      return "no-address";
    case What::dns:
      return "dns";
    case What::unreachable:
      return "unreachable";
    case What::timed_out:
      return "timed-out";
    case What::cut:
      return "cut";
    case What::malformed:
      return "malformed";
    case What::untrusted:
      return "untrusted";
    case What::abandoned:
      return "abandoned";
    case What::overload:
      return "overload";
  }
  return "unknown";
}

std::string_view exceeded_setting(const Failure& failure) {
  const auto error = http::head_error_of(failure.cause);
  return error ? http::setting_of(*error) : std::string_view();
}

std::string text(const Failure& failure) {
  std::string line;
  switch (failure.what) {
    case What::denied:
      line = "this proxy does not connect to that address";
      break;
    case What::no_address:
      line = "the host name has no address";
      break;
    case What::dns:
      line = "name resolution failed";
      break;
    case What::unreachable:
      line = "the server could not be reached";
      break;
    case What::timed_out:
      line = "it took too long";
      break;
    case What::cut:
      line = "the connection was cut before the response was complete";
      break;
    case What::malformed:
      line = exceeded_setting(failure).empty() ? "the server's response is not valid HTTP"
                                               : "this proxy refuses the server's response";
      if (failure.where == Failure::Where::client) line = "the request's body is damaged";
      break;
    case What::untrusted:
      line = "the server's identity could not be verified";
      break;
    case What::abandoned:
      line = "the request was given up";
      break;
    case What::overload:
      line = "this proxy is too busy";
      break;
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
