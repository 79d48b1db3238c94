// Returns freed memory to the system.
#pragma once

namespace proxy::memory {

// Returns the pages that have been free for longer than jemalloc's setting dirty_decay_ms. jemalloc
// does so by itself only while threads allocate. Takes some milliseconds after a peak, else next to
// nothing. Any thread. Does nothing in a program with another allocator.
void return_freed();
// Returns all free pages at once.
void return_all_freed();

}  // namespace proxy::memory
