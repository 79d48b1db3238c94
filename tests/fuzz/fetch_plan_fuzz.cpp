// What follows from an answer is asked of the proxy's own paths, in one line.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "proxy/command/fetch_plan.hpp"

using proxy::command::FetchStep;

// The first line: what a person names, then what an answer says of its next part; the rest is the
// answer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const auto line = input.substr(0, input.find('\n'));
  const auto named = line.substr(0, line.find(' '));
  const auto next = proxy::command::next_link(std::string_view(line).substr(named.size()));
  const auto first = proxy::command::first_step(named);
  if (!first || first->kind == FetchStep::Kind::url) return 0;
  const auto answer = line.size() < input.size() ? input.substr(line.size() + 1) : "";
  const auto steps = proxy::command::steps_after(*first, answer, {}, next);
  if (!steps) return 0;
  for (const auto& step : *steps) {
    if (!step.target.starts_with("/v2/") && !step.target.starts_with("/hf/")) std::abort();
    if (step.target.find_first_of("\r\n") != std::string::npos) std::abort();
  }
  return 0;
}
