#include "proxy/command/digest/line_key.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace proxy::command {

digest::Salt random_salt() {
  digest::Salt salt{};
  if (::getentropy(salt.data(), salt.size()) != 0) {
    throw std::system_error(errno, std::generic_category(), "no randomness");
  }
  return salt;
}

}  // namespace proxy::command
