// Ends the process for a breach of the proxy's promises.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz {

// Prints the accusation and its evidence, each text at most to 4,000 bytes.
template <class... Evidence>
[[noreturn]] void accuse(std::string_view breach, const Evidence&... evidence) {
  const auto print = [](std::string_view text) {
    std::fprintf(stderr, "%.*s\n----\n", static_cast<int>(std::min<std::size_t>(text.size(), 4000)),
                 text.data());
  };
  print(breach);
  (print(evidence), ...);
  std::abort();
}

}  // namespace fuzz
