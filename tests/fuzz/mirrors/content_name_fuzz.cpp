// A name that is read, from text or from a head, is read again from its text.
#include <cstdlib>
#include <string>

#include "proxy/http/head.hpp"
#include "proxy/mirrors/content_name.hpp"

using namespace proxy;

namespace {

void check(const std::optional<mirrors::ContentName>& name) {
  if (!name) return;
  if (mirrors::ContentName::parse(name->to_text()) != name) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(mirrors::ContentName::parse(text));
  auto lines = "HTTP/1.1 200 OK\r\nRepr-Digest: " + text + "\r\n\r\n";
  if (const auto head = http::parse_response_head(lines)) {
    check(mirrors::ContentName::said_by(head->fields));
  }
  return 0;
}
