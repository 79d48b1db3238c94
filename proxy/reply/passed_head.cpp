#include "proxy/reply/passed_head.hpp"

#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy {

std::string passed_head(Client& client, const http::ResponseHead& head, const cache::Times& times) {
  using http::field;
  const auto& process = client.worker.process;
  if (process.log.on()) {
    const auto type = head.fields.value(field::content_type);
    client.record.content_type = http::trim(type.substr(0, type.find(';')));
  }
  std::string text;
  http::append_response_head(text, head, process.name);
  if (!head.fields.has(field::date)) {
    http::append_field(text, "Date", http::format_date(whole_seconds(times.response)));
  }
  if (head.fields.has(field::age)) {
    const auto age = floor<std::chrono::seconds>(cache::initial_age(head.fields, times));
    http::append_field(text, "Age", std::to_string(age.count()));
  }
  return text;
}

}  // namespace proxy
