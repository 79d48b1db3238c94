// An order to the successor, as a message has it: "17 http://a.test/".
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proxy::succession {

struct Order {
  std::uint64_t number = 0;
  std::string_view what;  // to forget
};

inline std::string text_of(const Order& order) {
  return std::to_string(order.number).append(" ").append(order.what);
}

// Nothing: the text is no order.
inline std::optional<Order> order_of(std::string_view text) {
  Order order;
  const auto* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, order.number);
  if (error != std::errc() || after == end || *after != ' ') return std::nullopt;
  order.what = text.substr(static_cast<std::size_t>(after - text.data()) + 1);
  return order;
}

}  // namespace proxy::succession
