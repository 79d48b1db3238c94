// What a look-up would find, without being one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/inspect/entry_facts.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy::inspect {

struct Peeked {
  struct One {
    cache::Ref<const cache::Entry> entry;  // from disk: without its body
    EntryFacts facts;
  };
  std::vector<One> all;       // all in memory, and the one on disk that the request selects
  cache::Found found = {};    // what a look-up would find; its entry is one of `all`
  bool varies_there = false;  // the disk may have more variants, which are not in `all`
};

// Looks at the responses stored under `name`, for a request with these fields. Counts no use, moves
// nothing between memory and disk. `budget` is charged for entries of the disk while they exist.
// Waits for the disk.
Peeked peek(const Live& live, cache::Budget& budget, const std::string& name,
            const http::Fields& request, cache::Time now);

}  // namespace proxy::inspect
