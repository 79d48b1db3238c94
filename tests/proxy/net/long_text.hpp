// A text for tests that send much over a stream.
#pragma once

#include <string>

#include "proxy/net/stream.hpp"

namespace proxy::net {

// A text of so many bytes, no two long parts of which are the same.
inline std::string numbers(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  text.resize(size);
  return text;
}

// Reads in small pieces until the stream ends.
inline Task<std::string> all_of(Stream& stream) {
  std::string all;
  std::string chunk(1500, '\0');
  for (;;) {
    const auto n = co_await stream.read_some(asio::buffer(chunk));
    if (!n) co_return all;
    all.append(chunk, 0, *n);
  }
}

}  // namespace proxy::net
