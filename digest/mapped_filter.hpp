// A Bloom filter that lives in a file: no loading, no saving, and a crash of its writer loses
// nothing.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "digest/bloom_filter.hpp"
#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/shape.hpp"

namespace digest {

enum class MappedError : std::uint8_t {
  bad_shape,
  exists,  // create() makes a new file or none
  not_found,
  in_use,        // another process writes it
  no_space,      // on the disk
  system,        // any other refusal of the system
  not_a_filter,  // or cut short, or a damaged header
  read_only,     // insert() or sync() on a filter opened to read
};

std::string_view to_string(MappedError error);

template <class T>
using MappedResult = boost::system::result<T, MappedError>;

enum class Access : std::uint8_t { read, write };

// As BloomFilter, but for what follows. The bits are memory that the file backs (MAP_SHARED). A key
// is in once insert() returned, for every process that has the file open, and stays in if this one
// is killed right then: an insert that was cut off has set some of its bits, which does no harm.
// What the machine loses with its power is what came after the last sync(). All space is taken at
// the start, so that a full disk is an error of create(), not a crash. One process writes (kept
// alone by flock), any number read; within a process any number of threads may insert and ask at
// once. While it is open nobody may cut the file short. Only on Linux and its like.
//
// The file: 4096 bytes that begin with an envelope (file_format.hpp, FilterKind::mapped) whose
// payload is the shape, the rest zero; then the bits, bit n being byte n >> 3, value 1 << (n & 7).
class MappedFilter {
 public:
  // A new empty file, complete from the moment it can be seen under this name; meanwhile it is
  // name.XXXXXX with six other characters, which a crash right then leaves behind.
  static MappedResult<MappedFilter> create(const std::filesystem::path& path, const Shape& shape);
  static MappedResult<MappedFilter> open(const std::filesystem::path& path, Access access);

  // True if the key certainly was not in before.
  MappedResult<bool> insert(const Key& key);

  bool contains(const Key& key) const {
    return positions_.every(key, [this](std::uint64_t position) {
      const std::uint8_t byte = __atomic_load_n(&bits_.get()[position >> 3], __ATOMIC_RELAXED);
      return (byte >> (position & 7) & 1) != 0;
    });
  }

  // Waits until all that was inserted would survive a loss of power.
  MappedResult<void> sync();

  const Shape& shape() const { return positions_.shape(); }
  Access access() const { return access_; }

  // A copy of what it holds now; rates and estimates are had from that.
  BloomFilter copy() const;

 private:
  // An open file, whose lock goes with it.
  class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
      std::swap(number_, other.number_);
      return *this;
    }
    ~Descriptor();
    int number() const { return number_; }

   private:
    int number_;
  };
  // Holds the address of the bits, one header behind that of the mapping.
  struct Unmap {
    std::size_t bytes;
    void operator()(std::uint8_t* bits) const;
  };
  using Bits = std::unique_ptr<std::uint8_t, Unmap>;

  MappedFilter(Descriptor file, const Shape& shape, Access access, Bits bits);

  static MappedResult<MappedFilter> map(Descriptor file, const Shape& shape, Access access);
  static MappedResult<void> fill(const Descriptor& file, const Shape& shape);

  Descriptor file_;
  Positions positions_;
  Access access_;
  Bits bits_;
};

}  // namespace digest
