// Answers whose body is held already: after a 304, or in place of an origin that failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/filling/context.hpp"

namespace proxy {

// The origin's 304 says that `held` is still good: stores it as the 304 describes it, and answers
// with it.
void write_unmodified(FillContext& context, Attempt& answer,
                      const std::shared_ptr<const cache::Entry>& held);

// The origin's 304 speaks of a response that the client alone holds: hands the 304 on.
void write_clients_unmodified(FillContext& context, Attempt answer,
                              std::shared_ptr<const cache::Entry> held);

// Whether the fill has ended. A refresh ends here, as it changes nothing; for any other fill the
// held response answers, where it may (RFC 5861 4). `why`: for Cache-Status; `leave`: by the
// settings, to be stale.
enum class StoodIn : std::uint8_t { yes, no };
StoodIn stand_in(FillContext& context, const Attempt& failed,
                 const std::shared_ptr<const cache::Entry>& held, std::string_view why,
                 std::chrono::seconds leave);

}  // namespace proxy
