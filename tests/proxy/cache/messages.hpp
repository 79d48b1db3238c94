// Requests, responses and entries written as text, and a clock that stands still at kStart.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/judge.hpp"

namespace proxy::cache {

using namespace std::chrono_literals;

inline constexpr std::string_view kStartDate = "Mon, 01 Jan 2024 00:00:00 GMT";
inline constexpr Time kStart{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
inline constexpr Times kAtOnce{kStart, kStart};

struct Request {
  explicit Request(const std::string& lines = "", const std::string& method = "GET")
      : text(method + " http://a/ HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n"),
        head(http::parse_request_head(text).value()),
        facts(head) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  const std::string text;
  const http::RequestHead head;
  RequestFacts facts;
};

struct Response {
  explicit Response(const std::string& lines = "", unsigned status = 200)
      : text("HTTP/1.1 " + std::to_string(status) + " X\r\n" + lines + "\r\n"),
        head(http::parse_response_head(text).value()) {}
  Response(const Response&) = delete;
  Response& operator=(const Response&) = delete;

  std::string text;
  const http::ResponseHead head;
};

struct Stock {
  std::string url = "http://a/";
  std::string lines = "Cache-Control: max-age=100\r\n";
  unsigned status = 200;
  std::string request = "";
  std::uint32_t body = 0;
  Times times = kAtOnce;
  bool shared = true;
  Giver giver = {};
  FreshnessBounds bounds = {};
  digest::RuleHash rule = 0;
  bool by_rule_alone = false;
};

// `bytes`: the body, in place of one of stock.body bytes of any value. `name`: of the proxy.
inline Ref<const Entry> entry_of(Budget& budget, const Stock& stock, std::string_view bytes = "",
                                 const std::string& name = "us") {
  const Request request(stock.request);
  const Response response(stock.lines, stock.status);
  Received received{stock.url, request.head.fields, response.head, stock.times, name};
  received.shared = stock.shared;
  received.giver = stock.giver;
  received.bounds = stock.bounds;
  received.rule = stock.rule;
  received.by_rule_alone = stock.by_rule_alone;
  const auto entry = Entry::make(budget, received);
  const auto size = bytes.empty() ? stock.body : static_cast<std::uint32_t>(bytes.size());
  if (size > 0) {
    const auto block = Block::make(budget, size);
    bytes.copy(block->data(), size);
    entry->body = {{{block, size}}, size};
  }
  return entry;
}

// For a response that memory and disk keep.
inline Kept kept(Ref<const Entry> entry) {
  return {std::move(entry), std::make_shared<OnDisk>()};
}

inline digest::Key key_of(std::string_view url) {
  return digest::key_of(digest::Method::get, url);
}

}  // namespace proxy::cache
