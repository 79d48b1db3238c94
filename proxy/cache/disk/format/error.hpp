// What can go wrong with the cache on disk. In every case the proxy goes on without the disk.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string_view>

namespace proxy::cache::disk {

enum class Error : std::uint8_t {
  would_block,     // not in memory: read again where waiting is allowed
  gone,            // reclaimed or replaced meanwhile: a miss
  corrupt,         // a checksum does not match, or the record has another key
  too_large,       // no segment has room for such a record
  busy,            // refused: too much waits to be written
  resting,         // refused: the disk failed a moment ago and is tried again later
  no_space,        // the file system or a quota is full
  read_only,       // the file system is read-only, or we have no right to write
  no_directory,    // the directory or its content vanished, or a folder above it is missing
  not_directory,   // a file stands where the path needs a directory
  no_lock,         // `lock` in the directory is no regular file
  in_use,          // another process has the directory
  handed_over,     // our successor has the directory
  being_read,      // other processes read the directory, and will end soon
  no_descriptors,  // too many open files
  too_small,       // the size setting: it has no room for kWantedSegments of the smallest segments
  hangs,           // the disk does not answer: given up for now
  io,              // any other error of the system
};

// For a log line.
std::string_view to_string(Error error);

// What a system call's errno means.
Error error_of(int number);

template <class T>
using Result = boost::system::result<T, Error>;

[[noreturn]] void throw_exception_from_error(Error error, const boost::source_location& where);

}  // namespace proxy::cache::disk
