// A response head that parses is forwarded as one head without any of its framing.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/http/vary.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes.resize(std::min(find_head_end(bytes), size));
  const auto head = parse_response_head(bytes);
  if (!head || !response_framing(*head, "GET")) return 0;
  if (becomes_websocket(*head) && *response_framing(*head, "GET") != Framing{}) std::abort();
  const Variant variant(head->fields, head->fields);
  if (variant.matches(head->fields) == variant.never_matches()) std::abort();
  std::string out;
  append_response_head(out, *head, "cache-a");
  out += "\r\n";
  const auto again = parse_response_head(out, {1 << 20, 1000});
  if (find_head_end(out) != out.size() || !again || again->status != head->status) std::abort();
  if (again->fields.has(field::content_length) || again->fields.has(field::transfer_encoding))
    std::abort();
  return 0;
}
