// The entries of large objects (object.hpp) and of their blocks.
#pragma once

#include <memory>

#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// The entry of an object that begins to arrive: what came is a 200, or a 206 of it, whose head
// becomes that of the 200. `length` is the complete one, from 1 to kLargestObject.
std::shared_ptr<Entry> object_entry(Budget& budget, const Received& received, Object object,
                                    std::uint64_t length);

// The entry of what was kept of one whose length is not known yet: of a 200, the first `bytes`,
// which are those of whole blocks.
std::shared_ptr<const Entry> begun_entry(Budget& budget, const Received& received, Object object,
                                         std::uint64_t bytes);

// The entry of one of its blocks, for its own key: nothing but the bytes, and whose they are.
std::shared_ptr<const Entry> block_entry(Budget& budget, const Entry& object, Body bytes);

}  // namespace proxy::cache
