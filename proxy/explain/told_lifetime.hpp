// The freshness of a stored response by its own fields.
#pragma once

#include "proxy/cache/entry.hpp"
#include "proxy/http/cache_control.hpp"

namespace proxy {

// The lifetime that the response states, or that the heuristic gives it, without the bounds of the
// settings. Nothing: its head cannot be read. Pure.
std::optional<cache::Freshness> told_freshness(const cache::Entry& entry, http::Targets targets);

}  // namespace proxy
