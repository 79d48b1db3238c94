#include "proxy/http/forwarded.hpp"

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

bool is_x_forwarded_for(const Field& line) {
  return line.id == field::unknown && same_word(line.name, kXForwardedFor);
}

void append_member(std::string& list, std::string_view member) {
  if (!list.empty() && !member.empty()) list += ", ";
  list += member;
}

}  // namespace

bool is_forwarded_field(const Field& line) {
  return line.id == field::forwarded || is_x_forwarded_for(line);
}

Fields without_forwarded(const Fields& fields) {
  Fields others;
  for (const Field& line : fields) {
    if (!is_forwarded_field(line)) others.append(line.id, line.name, line.value);
  }
  return others;
}

ForwardedValues forwarded_for(const Fields& earlier, std::string_view address) {
  ForwardedValues values;
  for (const Field& line : earlier) {
    if (line.id == field::forwarded) append_member(values.forwarded, line.value);
    if (is_x_forwarded_for(line)) append_member(values.x_forwarded_for, line.value);
  }
  const bool v6 = address.find(':') != std::string_view::npos;  // RFC 7239 6
  const std::string text(address);
  append_member(values.forwarded, v6 ? "for=\"[" + text + "]\"" : "for=" + text);
  append_member(values.x_forwarded_for, text);
  return values;
}

}  // namespace proxy::http
