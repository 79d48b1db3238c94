// Any bytes are credentials, or are refused. Those that are read have a name, and nothing in them
// ends a text in C early.
#include <cstdlib>

#include "proxy/users/credentials.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = proxy::users::parse_basic(bytes);
  if (!read) return 0;
  if (read->name.empty() || read->name.find(':') != std::string::npos) std::abort();
  if (read->name.find('\0') != std::string::npos) std::abort();
  if (read->password.find('\0') != std::string::npos) std::abort();
  if (read->name.size() + read->password.size() >= size) std::abort();
  return 0;
}
