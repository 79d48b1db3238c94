// The words of an explanation that its JSON and its sentences share.
#pragma once

#include <string>
#include <string_view>

#include "proxy/explain/explanation.hpp"

namespace proxy {

std::string_view word(cache::Freshness::Basis basis);  // "max-age"
std::string_view word(Asks asks);                      // "on-trial"
std::string moment_text(cache::Time time);             // "2026-01-01T00:00:00Z"

}  // namespace proxy
