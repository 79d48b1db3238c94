#include "proxy/upstream/failure.hpp"

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/throw_exception.hpp>
#include <iterator>
#include <stdexcept>

#include "proxy/http/head_error.hpp"

namespace proxy::upstream {
namespace {

using What = Failure::What;
namespace error = boost::asio::error;

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

struct Meaning {
  const char* text;
  What what;
};
// In the order of Errc, from its first enumerator on.
constexpr Meaning kMeanings[] = {
    {"there is no such host name", What::no_address},
    {"the host name has no address", What::no_address},
    {"the name servers gave no usable answer", What::dns},
    {"the name servers refuse or fail the question", What::dns},
    {"the name servers took too long", What::dns},
    {"this proxy may not connect to the host's address", What::denied},
    {"a list in the setting access.block blocks the host's address", What::denied},
    {"the host refused the connection", What::unreachable},
    {"the host cannot be reached", What::unreachable},
    {"connecting to the host took too long", What::timed_out},
    {"this proxy has no file descriptor left to connect with", What::overload},
    {"the TLS handshake with the host failed", What::untrusted},
    {"the host's certificate is from no authority trusted here", What::untrusted},
    {"the host's certificate is for another name", What::untrusted},
    {"the host's certificate is not valid at this time", What::untrusted},
    {"the parent proxy does not accept the login in the setting peers", What::unreachable},
    {"the setting never_direct forbids asking the host itself, and no parent serves it",
     What::unreachable},
    {"no parent proxy has a way to the host", What::unreachable},
    {"what answers at the neighbour's address is not the neighbour", What::unreachable},
    {"the neighbour may have begun anew, and was not polled since", What::unreachable},
    {"it redirects to no URL that may be mirrored (settings mirrors.hosts, access.block), or in a "
     "circle",
     What::unreachable},
    {"the body does not have the digest that names it", What::malformed},
    {"the registry gives it to nobody without credentials", What::denied},
    {"the registry's token server has no time", What::unreachable},
};

// Null: no enumerator.
const Meaning* meaning_of(int error) {
  const auto at = static_cast<std::size_t>(error) - 1;
  return at < std::size(kMeanings) ? &kMeanings[at] : nullptr;
}

// Categories are never deleted through a pointer (Boost keeps the destructor protected), but g++ 12
// warns all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "upstream"; }
  [[nodiscard]] std::string message(int error) const override {
    const auto* const meaning = meaning_of(error);
    return meaning ? meaning->text : "unknown upstream error";
  }
  [[nodiscard]] boost::system::error_condition default_error_condition(
      int error) const noexcept override {
    using namespace boost::system;
    switch (static_cast<Errc>(error)) {
      case Errc::resolver_timed_out:
      case Errc::connect_timed_out:
        return errc::make_error_condition(errc::timed_out);
      case Errc::denied_address:
      case Errc::blocked_address:
        return errc::make_error_condition(errc::permission_denied);
      default:
        return {error, *this};
    }
  }
};
#pragma GCC diagnostic pop

// error_code compares by category, so a switch over values would confuse those of several.
bool is_any_of(boost::system::error_code cause, const auto&... errors) {
  return ((cause == errors) || ...);
}

What what_of(boost::system::error_code cause) {
  if (cause.category() == upstream_category()) {
    const auto* const meaning = meaning_of(cause.value());
    return meaning ? meaning->what : What::unreachable;
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

const boost::system::error_category& upstream_category() {
  static const Category category;
  return category;
}

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

bool is_unreached(const Failure& failure) {
  return failure.where == Failure::Where::upstream &&
         (failure.what == What::no_address || failure.what == What::dns ||
          is_any_of(failure.cause, Errc::connect_refused, Errc::connect_failed,
                    Errc::connect_timed_out));
}

bool may_be_refusal(const Failure& failure) {
  return failure.where == Failure::Where::upstream &&
         (failure.what == What::cut || failure.what == What::malformed);
}

// RFC 9110: 15.5.5 (404), 15.5.9 (408), 15.6.3 (502), 15.6.5 (504). Both 502 and 504 say that the
// fault is not this proxy's; 503 says that it is.
unsigned status_for(const Failure& failure) {
  const bool is_of_client = failure.where == Failure::Where::client;
  if (failure.status != 0) return failure.status;
  switch (failure.what) {
    case What::denied:
      // So that the client asks the registry itself, with its own credentials.
      return failure.cause == Errc::needs_credentials ? 404 : 403;
    case What::timed_out:
      return is_of_client ? 408 : 504;
    // No answer of the name servers is like none of the origin; a useless one is a bad answer.
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
  if (failure.cause == Errc::needs_credentials) return failure.cause.message();
  std::string line(kWords[static_cast<std::size_t>(failure.what)].text);
  if (failure.what == What::malformed) {
    if (!exceeded_setting(failure).empty()) line = "this proxy refuses the server's response";
    if (failure.where == Failure::Where::client) line = "the request's body is damaged";
  }
  if (failure.cause) line += " (" + failure.cause.message() + ")";
  return line;
}

// Where the person who asked can do nothing, a sentence would only sound like a reproach.
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

}  // namespace proxy::upstream
