// The program's allocator is jemalloc. Bodies come and go in many sizes for months. glibc's malloc
// kept more and more memory for them between pieces that live longer, up to twice cache.memory.
#include <jemalloc/jemalloc.h>

// jemalloc reads its settings here before main() begins.
//
// `narenas`: by default each of the first threads has an arena, which keeps what was freed in it.
// One thread makes a block and another frees it, so few arenas keep less.
// `dirty_decay_ms`: how soon freed pages return to the system, provided that some thread goes on
// allocating or calls return_freed().
// `slab_sizes`: for each run of pages with allocations of one size, jemalloc keeps 128 bytes. By
// default, the runs of these sizes have only 1 to 32 allocations. With 12 pages, into which all of
// them fit without a rest, the 128 bytes serve 12 at least: 45 bytes less for a stored object of
// 1 KiB.
const char* malloc_conf =
    "narenas:2,dirty_decay_ms:5000,muzzy_decay_ms:0,"
    "slab_sizes:128-128:12|256-256:12|384-384:12|512-512:12|768-768:12|1024-1024:12|1536-1536:12|"
    "2048-2048:12|3072-3072:12|4096-4096:12";
