// Writes answers whose body is stored already: after a 304, or in place of an origin that failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/cache/revalidation.hpp"
#include "proxy/fetching/context.hpp"

namespace proxy {

// `stored` with the fields of a 304 that validates it.
cache::Freshened freshened_by(const FillContext& context, const Attempt& answer,
                              const cache::Entry& stored);
// For a 304 that validates `stored`: stores what freshened_by() returned, and answers with it.
void write_unmodified(FillContext& context, Attempt& answer,
                      const cache::Ref<const cache::Entry>& stored, cache::Freshened freshened);

// For an origin's 304 about a response that only the client holds: passes the 304 on.
void write_clients_unmodified(FillContext& context, Attempt answer,
                              cache::Ref<const cache::Entry> stored);

// Answers with `stored` for an origin that failed, if `stored` may stand in (RFC 5861 4). If the
// job is a refresh, ends the fill, and changes nothing. `why`: for Cache-Status; `leave`: how stale
// the settings allow `stored` to be. Returns whether the fill has ended.
enum class StoodIn : std::uint8_t { yes, no };
StoodIn stand_in(FillContext& context, const Attempt& failed,
                 const cache::Ref<const cache::Entry>& stored, std::string_view why,
                 std::chrono::seconds leave);

}  // namespace proxy
