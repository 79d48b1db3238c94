#include "proxy/http/method.hpp"

#include <algorithm>
#include <array>

namespace proxy::http {

bool is_safe(std::string_view method) {
  static constexpr std::array<std::string_view, 7> kSafe{"GET",      "HEAD",   "OPTIONS", "TRACE",
                                                         "PROPFIND", "REPORT", "SEARCH"};
  return std::find(kSafe.begin(), kSafe.end(), method) != kSafe.end();
}

bool is_idempotent(std::string_view method) {
  return is_safe(method) || method == "PUT" || method == "DELETE";
}

}  // namespace proxy::http
