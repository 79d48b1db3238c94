#include <algorithm>
#include <optional>

#include "config/text.hpp"
#include "proxy/command/squid/plain.hpp"
#include "proxy/command/squid/quantity.hpp"

namespace proxy::command::squid {
namespace {

using config::ByteSize;
using Kind = Finding::Kind;

constexpr ByteSize kLeastMemory = config::mebibytes(1);
constexpr ByteSize kMostMemory{1ULL << 44};
constexpr ByteSize kLeastDisk = config::mebibytes(64);
constexpr ByteSize kMostDisk{1ULL << 50};

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

  void read(const Line& line) {
    if (line.name == "cache_dir") return read_directory(line);
    std::optional<ByteSize>* into = nullptr;
    if (line.name == "cache_mem") into = &memory_;
    if (line.name == "maximum_object_size") into = &largest_;
    if (line.name == "maximum_object_size_in_memory") into = &largest_in_memory_;
    if (!into) return;
    const auto size = size_of(line.words, 0, 1);
    if (!size || line.conditional) {
      tell(line, Kind::left, "has no size that is understood");
    } else if (into == &memory_ && (*size < kLeastMemory || *size > kMostMemory)) {
      tell(line, Kind::left, "cache.memory is from 1MiB to 16TiB");
    } else if (size->value == 0 && into == &largest_) {
      tell(line, Kind::left,
           "cache.max_object is 1B or more; rules with never_store store nothing");
    } else if (size->value > 0) {
      *into = *size;
      if (into == &largest_in_memory_) in_memory_line_ = line;
    }
  }

  void write(Json& cache) {
    if (memory_) cache.add("memory", Json::text(config::to_text(*memory_)));
    if (disk_) {
      Json disk;
      disk.add("path", Json::text("/var/cache/hearsay"));
      disk.add("size", Json::text(config::to_text(*disk_)));
      cache.add("disk", std::move(disk))
          .comment("The directory that the service hearsay may write. Squid had " + path_ +
                   ": delete its files, and mount that disk here, if it is one of its own.");
    }
    write_largest(cache);
  }

 private:
  void read_directory(const Line& line) {
    if (line.words.size() < 3 || line.words[0].text == "null") {
      return tell(line, Kind::left, "has no directory and size");
    }
    const std::string& path = line.words[1].text;
    const auto size = config::parse_number(line.words[2].text, kMostDisk.value >> 20);
    const ByteSize bytes{size.value_or(0) << 20};
    if (!size || bytes < kLeastDisk || path.empty() || line.conditional ||
        config::printable(path, 4'000) != path) {
      return tell(line, Kind::left, "cache.disk has a path and a size of 64MiB or more");
    }
    if (disk_ && bytes <= *disk_) return leave_second(line);
    if (disk_) leave_second(disk_line_);
    disk_ = bytes;
    disk_line_ = line;
    path_ = path;
    for (std::size_t i = 3; i < line.words.size(); ++i) {
      const bool sized = line.words[i].text.starts_with("min-size=") ||
                         line.words[i].text.starts_with("max-size=");
      if (sized) tell(line, Kind::left, "the disk takes responses of all sizes");
    }
  }

  void leave_second(const Line& line) {
    tell(line, Kind::left,
         "the cache has one directory, and the largest one is taken; join disks by LVM or RAID");
  }

  // Without a disk, Squid keeps what fits both limits.
  void write_largest(Json& cache) {
    auto largest = largest_;
    if (!disk_ && largest_in_memory_) {
      largest = largest ? std::min(*largest, *largest_in_memory_) : *largest_in_memory_;
    } else if (largest_in_memory_) {
      tell(in_memory_line_, Kind::unneeded,
           "memory holds the parts of large responses that are requested most");
    }
    if (!largest) return;
    if (!disk_) largest = std::min(*largest, memory_.value_or(config::mebibytes(256)));
    cache.add("max_object", Json::text(config::to_text(std::min(*largest, kMostDisk))));
  }

  void tell(const Line& line, Kind kind, std::string what) {
    findings_.push_back({line.place, kind, line.text, std::move(what)});
  }

  Findings& findings_;
  std::optional<ByteSize> memory_;
  std::optional<ByteSize> largest_;
  std::optional<ByteSize> largest_in_memory_;
  Line in_memory_line_;
  std::optional<ByteSize> disk_;
  Line disk_line_;
  std::string path_;
};

}  // namespace

void read_storage(const std::vector<Line>& lines, Imported& into, Findings& findings) {
  Reader reader(findings);
  for (const Line& line : lines) reader.read(line);
  reader.write(into.cache);
}

}  // namespace proxy::command::squid
