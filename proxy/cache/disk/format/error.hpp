// What can go wrong with the cache on disk. All of it is expected: the proxy goes on without.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string_view>

namespace proxy::cache::disk {

enum class Error : std::uint8_t {
  would_block,     // not in memory: read again where waiting is allowed
  gone,            // reclaimed or replaced meanwhile: a miss
  corrupt,         // a checksum does not fit, or the record is not the one asked for
  too_large,       // no segment has room for such a record
  busy,            // the writer is too far behind: not taken
  resting,         // the disk failed a moment ago and is tried again later: not taken
  no_space,        // the file system is full, or a quota is
  read_only,       // the file system is, or the files are not ours to write
  no_directory,    // it vanished, or what was in it, or it cannot be made
  no_lock,         // what is named so in it is no file
  in_use,          // another process has it
  being_read,      // others look at it, and will be done with that
  no_descriptors,  // too many open files
  too_small,       // the size allowed, for kWantedSegments of the smallest segments
  hangs,           // it does not answer: given up for now
  io,              // any other refusal of the system
};

// For a log line: what it is.
std::string_view to_string(Error error);

// What a system call's errno means.
Error error_of(int number);

template <class T>
using Result = boost::system::result<T, Error>;

[[noreturn]] void throw_exception_from_error(Error error, const boost::source_location& where);

}  // namespace proxy::cache::disk
