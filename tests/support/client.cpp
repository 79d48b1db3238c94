#include "tests/support/client.hpp"

#include <stdexcept>

namespace support {

std::string request_text(std::string_view method, std::string_view url, const Fields& fields,
                         std::string_view body) {
  return origin_form_text(authority_of(url), method, url, fields, body);
}

std::string origin_form_text(std::string_view host, std::string_view method, std::string_view path,
                             const Fields& fields, std::string_view body) {
  Fields all{{"Host", std::string(host)}};
  all.insert(all.end(), fields.begin(), fields.end());
  if (!body.empty()) all.emplace_back("Content-Length", std::to_string(body.size()));
  const std::string start_line = std::string(method) + " " + std::string(path) + " HTTP/1.1";
  return head_text(start_line, all) + std::string(body);
}

Response Client::next_head(std::string_view method) {
  auto response = incoming_.head(method);
  if (!response) throw std::runtime_error("closed before a response's head");
  return std::move(*response);
}

Response Client::read_head(std::string_view method) {
  unread_.clear();
  Response response = next_head(method);
  while (response.status < 200) {
    interim_.push_back(std::move(response));
    response = next_head(method);
  }
  return response;
}

std::string Client::read_body(std::size_t count) {
  while (unread_.size() < count) {
    const std::string piece = incoming_.body_piece();
    if (piece.empty()) break;
    unread_ += piece;
  }
  const std::string body = unread_.substr(0, count);
  unread_.erase(0, body.size());
  return body;
}

void Client::read_rest(Response& response) {
  response.body += read_body(std::string::npos);
  response.whole = incoming_.body_whole();
}

Response Client::read(std::string_view method) {
  Response response = read_head(method);
  read_rest(response);
  return response;
}

Response Client::get(std::string_view url, const Fields& fields) {
  return request("GET", url, fields);
}

Response Client::request(std::string_view method, std::string_view url, const Fields& fields,
                         std::string_view body) {
  send(request_text(method, url, fields, body));
  return read(method);
}

}  // namespace support
