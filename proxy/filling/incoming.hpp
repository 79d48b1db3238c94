// A source's answer, judged, on its way to its writer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/cache/policy.hpp"
#include "proxy/filling/context.hpp"
#include "proxy/sources/attempt.hpp"

namespace proxy {

struct Incoming {
  Attempt attempt;
  std::shared_ptr<cache::Entry> entry;  // what the answer makes; its body is still to come
  std::optional<std::uint64_t> length;  // of the fill's body, where it is told
  bool may_be_stored = false;           // by the rules of RFC 9111
  std::shared_ptr<const cache::Entry> superseded;  // by the entry, in the store; or null
  bool goes_on = false;  // the source's body does, after the last byte that the client asked for
};

// The answer as it came.
inline Incoming incoming_of(const FillContext& context, Attempt attempt,
                            cache::Storability storability,
                            std::shared_ptr<const cache::Entry> superseded) {
  auto entry = std::make_shared<cache::Entry>(context.process().budget, context.received(attempt));
  const auto length = attempt.length();
  return {std::move(attempt), std::move(entry), length, storability == cache::Storability::yes,
          std::move(superseded)};
}

}  // namespace proxy
