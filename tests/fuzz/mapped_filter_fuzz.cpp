#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "digest/mapped_filter.hpp"

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kHeaderBytes = 4096;

digest::Key key_number(std::uint8_t number) {
  digest::Key key;
  key.bytes.fill(number);
  return key;
}

// A filter that opens makes the same claims as its copy, and claims what is inserted.
void ask(const std::string& path, digest::Access access) {
  auto filter = digest::MappedFilter::open(path, access);
  if (!filter) return;
  const auto copy = filter->copy();
  for (std::uint8_t i = 0; i < 20; ++i) {
    if (filter->contains(key_number(i)) != copy.contains(key_number(i))) __builtin_trap();
  }
  const bool inserted = filter->insert(key_number(1)).has_value();
  if (inserted != (access == digest::Access::write)) __builtin_trap();
  if (inserted && !filter->contains(key_number(1))) __builtin_trap();
}

void open_as_file(Bytes bytes) {
  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != ssize_t(bytes.size())) {
    __builtin_trap();
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  ask(path, digest::Access::read);
  ask(path, digest::Access::write);
  close(file);
}

}  // namespace

// The input is read as a file. It is also read as a shape followed by bits, for which this makes a
// correct header.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  open_as_file({data, size});
  if (size < digest::kShapeBytes) return 0;
  digest::FileWriter header(digest::FilterKind::mapped);
  header.bytes(Bytes(data, digest::kShapeBytes));
  auto file = std::move(header).finish();
  file.resize(kHeaderBytes);
  file.insert(file.end(), data + digest::kShapeBytes, data + size);
  open_as_file(file);
  return 0;
}
