// Makes the entries of large objects (object.hpp) and of their blocks.
#pragma once

#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// The entry of an object whose body begins to arrive in a 200, or in a 206, whose head is turned
// into that of the 200. `length` is the complete length, from 1 to kLargestObject.
Ref<Entry> object_entry(Budget& budget, const Received& received, Object object,
                        std::uint64_t length);

// The entry of the blocks kept so far of an object whose length is not known yet: the first `bytes`
// of a 200. `bytes` is a multiple of the block size.
Ref<const Entry> begun_entry(Budget& budget, const Received& received, Object object,
                             std::uint64_t bytes);

// The entry of one block of `object`, stored under the block's own key: only the bytes, which
// object they belong to, and who gave them.
Ref<const Entry> block_entry(Budget& budget, const Entry& object, Body bytes, Giver giver = {});

}  // namespace proxy::cache
