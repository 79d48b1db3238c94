// The program's allocator is jemalloc. Bodies come and go in many sizes for months. glibc's malloc
// kept more and more memory for them between pieces that live longer, up to twice cache.memory.
#include <jemalloc/jemalloc.h>

// jemalloc reads its settings here before main() begins.
//
// `narenas`: by default each of the first threads has an arena, which keeps what was freed in it.
// One thread makes a block and another frees it, so few arenas keep less.
// `dirty_decay_ms`: how soon freed pages return to the system, provided that some thread goes on
// allocating or calls return_freed().
const char* malloc_conf = "narenas:2,dirty_decay_ms:5000,muzzy_decay_ms:0";
