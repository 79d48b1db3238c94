// A head that was made harmless is so still when it is made harmless again, and each of its lines
// but two was in the first one.
#include <cstdlib>
#include <string>

#include "proxy/mirrors/answer_head.hpp"

using namespace proxy;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view lines(reinterpret_cast<const char*>(data), size);
  const auto head = "HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\n";
  const auto harmless = mirrors::harmless_head(head);
  if (!harmless.starts_with("HTTP/1.1 200 OK\r\n") || !harmless.ends_with("\r\n")) std::abort();
  if (harmless.size() > head.size() + 128) std::abort();
  if (mirrors::harmless_head(harmless).size() > harmless.size() + 128) std::abort();
  if (harmless.find("nosniff\r\n") == std::string::npos) std::abort();
  return 0;
}
