// A Bloom filter that lives in a file: it needs no loading and no saving, and a crash of its writer
// loses nothing.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "digest/bloom_filter.hpp"
#include "digest/descriptor.hpp"
#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/shape.hpp"

namespace digest {

enum class MappedError : std::uint8_t {
  bad_shape,  // no filter can have this shape
  exists,     // create() does not replace a file
  not_found,
  in_use,        // another process writes to it
  no_space,      // the disk is full
  system,        // any other error of the operating system
  not_a_filter,  // also if it is cut short or its header is damaged
  read_only,     // insert() or sync() on a filter opened for reading
};

std::string_view to_string(MappedError error);

template <class T>
using MappedResult = boost::system::result<T, MappedError>;

enum class Access : std::uint8_t { read, write };

// Like BloomFilter, with these differences. The bits are shared memory backed by the file
// (MAP_SHARED). Once insert() has returned, every process that has the file open sees the key, and
// the key stays in if this process is killed. An interrupted insert has set some of its bits, which
// does no harm. A power failure loses the keys inserted since the last sync().
//
// create() reserves all disk space, so a full disk is an error there and not a crash later. One
// process writes (flock keeps others out), any number may read. Within a process any number of
// threads may insert and look up at the same time. Nobody may truncate the file while it is open.
// For Linux and systems like it.
//
// The file: 4096 bytes that begin with an envelope (file_format.hpp, FilterKind::mapped) whose
// payload is the shape, padded with zeros; then the bits. Bit n has value 1 << (n & 7) in byte n >>
// 3.
class MappedFilter {
 public:
  // Creates an empty filter in a new file. The file is complete as soon as it appears under its
  // name. Until then it is called name.XXXXXX, with six random characters, and a crash leaves it
  // behind.
  static MappedResult<MappedFilter> create(const std::filesystem::path& path, const Shape& shape);
  static MappedResult<MappedFilter> open(const std::filesystem::path& path, Access access);

  // Returns true if the key was certainly absent before.
  MappedResult<bool> insert(const Key& key);

  bool contains(const Key& key) const {
    return positions_.every(key, [this](std::uint64_t position) {
      const std::uint8_t byte = __atomic_load_n(&bits_.get()[position >> 3], __ATOMIC_RELAXED);
      return (byte >> (position & 7) & 1) != 0;
    });
  }

  // Waits until everything inserted so far would survive a power failure.
  MappedResult<void> sync();

  const Shape& shape() const { return positions_.shape(); }
  Access access() const { return access_; }

  // Returns a copy of the current bits, for example to compute rates and estimates.
  BloomFilter copy() const;

 private:
  // Holds the address of the bits, which is one header beyond that of the mapping.
  struct Unmap {
    std::size_t bytes;
    void operator()(std::uint8_t* bits) const;
  };
  using Bits = std::unique_ptr<std::uint8_t, Unmap>;

  MappedFilter(Descriptor file, const Shape& shape, Access access, Bits bits);

  static MappedResult<MappedFilter> map(Descriptor file, const Shape& shape, Access access);
  static MappedResult<void> fill(const Descriptor& file, const Shape& shape);

  Descriptor file_;  // closing it releases its lock
  Positions positions_;
  Access access_;
  Bits bits_;
};

}  // namespace digest
