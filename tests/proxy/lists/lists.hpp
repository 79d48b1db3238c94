// Lists and requests written as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/lists/access_lists.hpp"
#include "proxy/lists/read.hpp"

namespace proxy::lists {

using Lines = std::vector<std::string>;

inline List list_of(const Lines& lines, double rate = ListBuilder::kRate) {
  ListBuilder builder;
  for (const auto& line : lines) EXPECT_EQ(read_line(line, builder), Line::read) << line;
  return std::move(builder).finish(rate);
}

// "http://a.test/x", or "a.test:443" for a tunnel.
inline http::Target target_of(const std::string& url) {
  const bool tunnel = url.find("://") == std::string::npos;
  return http::parse_target(tunnel ? "CONNECT" : "GET", url).value();
}

}  // namespace proxy::lists
