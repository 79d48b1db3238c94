#include "proxy/upstream/error.hpp"

#include <iterator>
#include <string>

namespace proxy::upstream {
namespace {

// In the order of Errc, from its first enumerator on.
constexpr const char* kTexts[] = {
    "there is no such host name",
    "the host name has no address",
    "the name servers gave no usable answer",
    "the name servers refuse or fail the question",
    "the name servers took too long",
    "this proxy may not connect to the host's address",
    "a list in the setting access.block blocks the host's address",
    "the host refused the connection",
    "the host cannot be reached",
    "connecting to the host took too long",
    "this proxy has no file descriptor left to connect with",
    "the TLS handshake with the host failed",
    "the host's certificate is from no authority trusted here",
    "the host's certificate is for another name",
    "the host's certificate is not valid at this time",
    "the parent proxy does not accept the login in the setting peers",
    "the setting never_direct forbids asking the host itself, and no parent serves it",
    "no parent proxy has a way to the host",
    "what answers at the neighbour's address is not the neighbour",
    "the neighbour may have begun anew, and was not polled since",
};

// Categories are never deleted through a pointer (Boost keeps the destructor protected), but g++ 12
// warns all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "upstream"; }
  [[nodiscard]] std::string message(int error) const override {
    const auto at = static_cast<std::size_t>(error) - 1;
    return at < std::size(kTexts) ? kTexts[at] : "unknown upstream error";
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
