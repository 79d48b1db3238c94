// A request head that parses is unambiguous, and the head that we forward parses to the same.
#include <cstdlib>
#include <string>

#include "proxy/http/forwarded.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/http/target.hpp"

using namespace proxy::http;

namespace {

// The text that TRACE returns, and the field Forwarded, parse as parts of one head.
void check_shown(const RequestHead& head, const Target& target) {
  const auto shown = traced(head, target);
  const auto again = parse_request_head(shown, {1 << 20, 1000});
  if (find_head_end(shown) != shown.size() || !again) std::abort();
  if (again->fields.has(field::authorization) || again->fields.has(field::cookie)) std::abort();
  const auto values = forwarded_for(head.fields, "2001:db8::1");
  const auto others = without_forwarded(head.fields).value_or(head.fields);
  if (others.has(field::forwarded) || values.x_forwarded_for.find('\n') != std::string::npos) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto head = parse_request_head(bytes.substr(0, find_head_end(bytes)));
  if (!head) return 0;
  const auto framing = request_framing(*head);
  const auto target = parse_target(head->method, head->target, head->fields.value(field::host));
  via_names(head->fields, "cache-a");
  if (!framing || !target || target->path().empty() || target->host().empty()) return 0;
  if (!check_host(*head, *target)) return 0;
  if (check_hops(*head, *framing)) check_shown(*head, *target);
  if (asks_for_websocket(*head, *framing) && framing->has_body()) std::abort();
  std::string out;
  const Fields fields = without_named(head->fields).value_or(head->fields);
  const UpstreamRequest request{head->method,
                                target->path(),
                                target->authority(),
                                fields,
                                head->minor,
                                "cache-a",
                                *framing,
                                {},
                                {}};
  append_request_head(out, request);
  const auto again = parse_request_head(out, {1 << 20, 1000});
  if (find_head_end(out) != out.size() || !again || !check_host(*again, *target)) std::abort();
  if (request_framing(*again) != framing || !via_names(again->fields, "cache-a")) std::abort();
  return 0;
}
