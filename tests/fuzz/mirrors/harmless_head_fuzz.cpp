// A head that was made harmless is so still when it is made harmless again, and each of its lines
// but two was in the first one, but for the targets of its links.
#include <cstdlib>
#include <string>

#include "proxy/mirrors/answer_head.hpp"

using namespace proxy;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view lines(reinterpret_cast<const char*>(data), size);
  const auto head = "HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\n";
  const mirrors::Place place{"https://a", "/hub"};
  const auto harmless = mirrors::harmless_head(head, place);
  if (!harmless.starts_with("HTTP/1.1 200 OK\r\n") || !harmless.ends_with("\r\n")) std::abort();
  // A link is "</>" at least, and gets the four bytes of the place.
  if (harmless.size() > 3 * head.size() + 128) std::abort();
  if (mirrors::harmless_head(harmless, {}).size() > harmless.size() + 128) std::abort();
  if (harmless.find("nosniff\r\n") == std::string::npos) std::abort();
  return 0;
}
