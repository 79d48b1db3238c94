#include "proxy/http/upgrade.hpp"

#include "proxy/http/text.hpp"

namespace proxy::http {

bool asks_for_websocket(const RequestHead& head, const Framing& framing) {
  return head.fields.has(field::upgrade) && head.method == "GET" && head.minor >= 1 &&
         !framing.has_body() && has_member(head.fields, field::connection, "upgrade") &&
         has_member(head.fields, field::upgrade, kWebSocket);
}

bool becomes_websocket(const ResponseHead& answer) {
  const auto& fields = answer.fields;
  return answer.status == 101 && answer.minor >= 1 && fields.count(field::upgrade) == 1 &&
         same_word(fields.value(field::upgrade), kWebSocket) &&
         has_member(fields, field::connection, "upgrade");
}

}  // namespace proxy::http
