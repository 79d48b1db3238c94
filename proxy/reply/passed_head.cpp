#include "proxy/reply/passed_head.hpp"

#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy {

std::string passed_head(const ServeAccess& access, const http::ResponseHead& head,
                        const cache::Times& times) {
  using http::field;
  std::string text;
  http::append_response_head(text, head, access.name());
  if (!head.fields.has(field::date)) {
    http::append_field(text, "Date", http::format_date(machine::whole_seconds(times.arrived())));
  }
  if (head.fields.has(field::age)) {
    const auto age = floor<std::chrono::seconds>(cache::initial_age(head.fields, times));
    http::append_field(text, "Age", std::to_string(age.count()));
  }
  return text;
}

void note_content_type(Client& client, std::string_view content_type) {
  if (!client.access.observed.log.on()) return;
  client.record.content_type = http::trim(content_type.substr(0, content_type.find(';')));
}

}  // namespace proxy
