#include "proxy/upstream/error.hpp"

#include <string>

namespace proxy::upstream {
namespace {

const char* text_of(Errc error) {
  switch (error) {
    case Errc::name_not_found:
      return "there is no such host name";
    case Errc::no_address:
      return "the host name has no address";
    case Errc::resolver_failed:
      return "the name servers gave no usable answer";
    case Errc::resolver_refused:
      return "the name servers refuse or fail the question";
    case Errc::resolver_timed_out:
      return "the name servers took too long";
    case Errc::denied_address:
      return "this proxy may not connect to the host's address";
    case Errc::blocked_address:
      return "a list in the setting access.block blocks the host's address";
    case Errc::connect_refused:
      return "the host refused the connection";
    case Errc::connect_failed:
      return "the host cannot be reached";
    case Errc::connect_timed_out:
      return "connecting to the host took too long";
    case Errc::no_descriptors:
      return "this proxy has no file descriptor left to connect with";
    case Errc::tls_failed:
      return "the TLS handshake with the host failed";
    case Errc::tls_unverified:
      return "the host's certificate is from no authority trusted here";
    case Errc::tls_wrong_name:
      return "the host's certificate is for another name";
    case Errc::tls_expired:
      return "the host's certificate is not valid at this time";
    case Errc::login_refused:
      return "the parent proxy does not accept the login in the setting peers";
    case Errc::no_route:
      return "the setting never_direct forbids asking the host itself, and no parent serves it";
    case Errc::no_parent_left:
      return "no parent proxy has a way to the host";
    case Errc::not_the_peer:
      return "what answers at the neighbour's address is not the neighbour";
    case Errc::unproven_peer:
      return "the neighbour may have begun anew, and was not polled since";
  }
  return "unknown upstream error";
}

// Categories are never deleted through a pointer (Boost keeps the destructor protected), but g++ 12
// warns all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "upstream"; }
  [[nodiscard]] std::string message(int error) const override {
    return text_of(static_cast<Errc>(error));
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

}  // namespace

const boost::system::error_category& upstream_category() {
  static const Category category;
  return category;
}

}  // namespace proxy::upstream
