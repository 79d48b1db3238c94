// Answers whose body is held already: after a 304, or in place of an origin that failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/filling/context.hpp"

namespace proxy {

// For an origin's 304 that validates `held`: stores `held` with the fields of the 304, and answers
// with it.
void write_unmodified(FillContext& context, Attempt& answer,
                      const std::shared_ptr<const cache::Entry>& held);

// For an origin's 304 about a response that only the client holds: hands the 304 on.
void write_clients_unmodified(FillContext& context, Attempt answer,
                              std::shared_ptr<const cache::Entry> held);

// Answers with `held` for an origin that failed, if `held` may stand in (RFC 5861 4). A failed
// refresh changes nothing and ends here. `why`: for Cache-Status; `leave`: how stale the settings
// let `held` be. Returns whether the fill has ended.
enum class StoodIn : std::uint8_t { yes, no };
StoodIn stand_in(FillContext& context, const Attempt& failed,
                 const std::shared_ptr<const cache::Entry>& held, std::string_view why,
                 std::chrono::seconds leave);

}  // namespace proxy
