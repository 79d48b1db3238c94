#include "proxy/explain/words.hpp"

#include <fmt/chrono.h>

namespace proxy {

std::string_view word(cache::Freshness::Basis basis) {
  using Basis = cache::Freshness::Basis;
  switch (basis) {
    case Basis::s_maxage:
      return "s-maxage";
    case Basis::max_age:
      return "max-age";
    case Basis::expires:
      return "Expires";
    case Basis::heuristic:
      return "heuristic";
    case Basis::none:
      break;
  }
  return "none";
}

std::string_view word(Asks asks) {
  switch (asks) {
    case Asks::yes:
      return "yes";
    case Asks::on_trial:
      return "on-trial";
    case Asks::if_origin_fails:
      return "if-origin-fails";
    case Asks::no:
      break;
  }
  return "no";
}

std::string moment_text(cache::Time time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace proxy
