// A file that is written as a whole or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "proxy/command/streams.hpp"

namespace proxy::command {

enum class Existing : std::uint8_t { keep, replace };
enum class Readers : std::uint8_t {
  everybody,  // as the umask has it
  owner,      // it holds a secret
};

// Trouble if there is such a file and it is to be kept: to be asked before long work.
Result<void> may_write(const std::string& path, Existing existing);

// Under a name of its own beside it at first, so that nobody ever sees a part of it, and what was
// there stays if this fails. On disk when it returns.
Result<void> write_file(const std::string& path, std::span<const std::uint8_t> bytes,
                        Existing existing, Readers readers);

}  // namespace proxy::command
