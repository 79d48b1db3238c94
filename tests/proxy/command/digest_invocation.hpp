// `hearsay digest` within the test.
#pragma once

#include <CLI/Error.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/streams.hpp"
#include "tests/proxy/command/said.hpp"

namespace proxy::command {

// Throws CLI::ParseError as main() would see it.
int run_digest_on(const std::vector<std::string>& arguments, const Streams& streams);

Said run_digest(const std::vector<std::string>& arguments, std::string_view input = {});

// "http://example.com/PREFIX0" and so on, a line each.
inline std::string numbered_urls(std::string_view prefix, int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    ((lines += "http://example.com/") += prefix) += std::to_string(i) + '\n';
  }
  return lines;
}

}  // namespace proxy::command
