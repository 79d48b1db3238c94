#include "proxy/cache/disk/format/error.hpp"

#include <cerrno>
#include <stdexcept>
#include <string>

namespace proxy::cache::disk {

std::string_view to_string(Error error) {
  switch (error) {
    case Error::would_block:
      return "not in memory";
    case Error::gone:
      return "reclaimed meanwhile";
    case Error::corrupt:
      return "damaged: a checksum does not fit";
    case Error::too_large:
      return "too large for a segment";
    case Error::busy:
      return "the disk is too slow for the responses that arrive";
    case Error::resting:
      return "the disk failed a moment ago";
    case Error::no_space:
      return "no space left on the disk";
    case Error::read_only:
      return "the disk may not be written";
    case Error::no_directory:
      return "the directory or its content is gone, or it cannot be created (No such file or "
             "directory)";
    case Error::not_directory:
      return "its path, or a part of it, is a file (Not a directory)";
    case Error::no_lock:
      return "`lock` in the directory is not a regular file: remove it";
    case Error::in_use:
      return "another process uses the directory";
    case Error::handed_over:
      return "the process that takes over uses the directory";
    case Error::being_read:
      return "`hearsay cache` is reading the directory";
    case Error::no_descriptors:
      return "too many open files";
    case Error::too_small:
      return "the size allowed is too small";
    case Error::hangs:
      return "the disk does not answer";
    case Error::io:
      return "input/output error";
  }
  return "unknown error";
}

Error error_of(int number) {
  switch (number) {
    case EAGAIN:
      return Error::would_block;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Error::no_space;
    case EROFS:
    case EACCES:
    case EPERM:
      return Error::read_only;
    case ENOENT:
      return Error::no_directory;
    case ENOTDIR:
      return Error::not_directory;
    case EMFILE:
    case ENFILE:
      return Error::no_descriptors;
    default:
      return Error::io;
  }
}

void throw_exception_from_error(Error error, const boost::source_location&) {
  throw std::logic_error("a disk error was taken for a value: " + std::string(to_string(error)));
}

}  // namespace proxy::cache::disk
