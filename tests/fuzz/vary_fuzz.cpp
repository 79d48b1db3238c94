// What a request fetched answers that request again; two requests select the same or they do not,
// whichever came first; and marks tell the same story. Input: lines, the first one Vary, the others
// fields of two requests in turn.
#include <cstdlib>

#include "proxy/http/vary.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next_line = [&rest] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
  };
  Fields response, requests[2];
  response.append("Vary", next_line());
  for (unsigned turn = 0; !rest.empty(); ++turn) {
    const std::string_view line = next_line();
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
