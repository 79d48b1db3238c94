#include "proxy/cache/storability.hpp"

#include <array>

namespace proxy::cache {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, kStorabilities> kWords{"yes",
                                                              "method",
                                                              "rule",
                                                              "request-no-store",
                                                              "for-origin",
                                                              "status",
                                                              "partial",
                                                              "no-store",
                                                              "private",
                                                              "authorization",
                                                              "vary",
                                                              "vary-too-long",
                                                              "set-cookie",
                                                              "no-cache",
                                                              "no-lifetime",
                                                              "max-age",
                                                              "expired",
                                                              "duplicate",
                                                              "too-large",
                                                              "no-room",
                                                              "several-sources",
                                                              "incomplete",
                                                              "outdated"};
static_assert(kWords.back() == "outdated");

}  // namespace

std::string_view text(Storability storability) {
  return kWords[static_cast<std::size_t>(storability)];
}

}  // namespace proxy::cache
