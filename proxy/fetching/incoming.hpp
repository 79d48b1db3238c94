// A source's answer, judged, for its writer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/judge.hpp"
#include "proxy/fetching/context.hpp"
#include "proxy/sources/attempt.hpp"

namespace proxy {

struct Incoming {
  Attempt attempt;
  cache::Ref<cache::Entry> entry;       // made from the head; its body is still empty
  std::optional<std::uint64_t> length;  // of the fill's body, if known
  // By the rules of RFC 9111, or why it may not be stored.
  cache::Storability storability = cache::Storability::yes;
  cache::Ref<const cache::Entry> superseded;  // the stored entry that this replaces; or null
  // The neighbour has it close at hand, and it is not stored here: see is_left_there().
  bool left_there = false;
  bool goes_on = false;           // the source's body continues after the last byte for the client
  std::string asker_fields = {};  // of the head: see cache/entry.hpp

  [[nodiscard]] bool may_be_stored() const { return storability == cache::Storability::yes; }
};

// Makes an entry of the source's answer, which is neither cut nor joined. `control` is what
// context.control_of() reads from the answer.
inline Incoming incoming_of(const FillContext& context, Attempt attempt,
                            const http::CacheControl& control, cache::Storability storability,
                            cache::Ref<const cache::Entry> superseded) {
  auto received = context.received(attempt);
  received.control = &control;
  auto& budget = context.cache().budget;
  // What a neighbour gives is judged by its lifetime, too: see objection().
  received.passed_on = storability != cache::Storability::yes && !attempt.peer();
  static constexpr cache::EntryMemory kFrames{net::FrameMemory::take, net::FrameMemory::give_back};
  auto entry = cache::Entry::make(budget, received, received.passed_on ? &kFrames : nullptr);
  Incoming incoming{std::move(attempt), std::move(entry), {}, storability, std::move(superseded)};
  incoming.length = incoming.attempt.length();
  incoming.asker_fields = cache::asker_fields(incoming.attempt.head().fields, control);
  return incoming;
}

}  // namespace proxy
