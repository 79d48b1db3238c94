// Preloaded into the program: counts its heap allocations, of all threads, in the file
// HEARSAY_ALLOCATIONS, as one 64-bit number. The file is mapped at the start, so that no sandbox
// forbids to write to it. The calls go on to the program's own allocator. Nothing escapes the
// count: malloc's family and operator new are all there is, and a call from within the C library
// or libstdc++ finds these functions, too.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t>* count = nullptr;

__attribute__((constructor)) void map_file() {
  const char* const path = std::getenv("HEARSAY_ALLOCATIONS");
  const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const mapped = ::mmap(nullptr, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped != MAP_FAILED) count = static_cast<std::atomic<std::uint64_t>*>(mapped);
}

void record() {
  if (count) count->fetch_add(1, std::memory_order_relaxed);
}

// The program's own function of this name.
template <class Function>
Function* own(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
  static auto* const next = own<void*(std::size_t)>("malloc");
  record();
  return next(size);
}

void* calloc(std::size_t number, std::size_t size) noexcept {
  static auto* const next = own<void*(std::size_t, std::size_t)>("calloc");
  record();
  return next(number, size);
}

void* realloc(void* memory, std::size_t size) noexcept {
  static auto* const next = own<void*(void*, std::size_t)>("realloc");
  record();
  return next(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  static auto* const next = own<void*(std::size_t, std::size_t)>("aligned_alloc");
  record();
  return next(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  static auto* const next = own<int(void**, std::size_t, std::size_t)>("posix_memalign");
  record();
  return next(memory, alignment, size);
}

}  // extern "C"

// The program's allocator has these too, and they would not call our malloc().
void* operator new(std::size_t size) {
  return or_throw(malloc(size));
}
void* operator new[](std::size_t size) {
  return or_throw(malloc(size));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return malloc(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return malloc(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(aligned_alloc(static_cast<std::size_t>(alignment), size));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(aligned_alloc(static_cast<std::size_t>(alignment), size));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return aligned_alloc(static_cast<std::size_t>(alignment), size);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return aligned_alloc(static_cast<std::size_t>(alignment), size);
}
