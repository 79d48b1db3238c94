// A stored response matches the request that fetched it. Whether two requests select the same
// response does not depend on their order, and their marks are equal exactly if they do. Input:
// lines. The first line is Vary, the others are fields of two requests in turn.
#include <cstdlib>

#include "proxy/http/vary.hpp"
#include "tests/fuzz/take_line.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Fields response, requests[2];
  response.append("Vary", take_line(rest));
  for (unsigned turn = 0; !rest.empty(); ++turn) {
    const std::string_view line = take_line(rest);
    const std::size_t colon = std::min(line.find(':'), line.size());
    requests[turn % 2].append(line.substr(0, colon), line.substr(std::min(colon + 1, line.size())));
  }
  const Variant first(response, requests[0]), second(response, requests[1]);
  if (first.matches(requests[0]) == first.never_matches()) std::abort();
  if (first.matches(requests[1]) != second.matches(requests[0])) std::abort();
  const bool same = first.mark() == second.mark() && !first.never_matches();
  if (first.matches(requests[1]) != same) std::abort();
  return 0;
}
