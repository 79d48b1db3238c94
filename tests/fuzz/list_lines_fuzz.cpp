// Any bytes are read as lines or skipped; a list made from a line names the host or address in that
// line.
#include <cstdint>
#include <cstdlib>

#include "proxy/lists/access_lists.hpp"
#include "proxy/lists/read.hpp"

using namespace proxy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  lists::ListBuilder all;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    const auto read = lists::read_line(line, all);
    lists::ListBuilder builder;
    if (lists::read_line(line, builder) != read) std::abort();
    const lists::List alone = std::move(builder).finish();
    if (read == lists::Line::unknown || line.find_first_of(" \t#\r/.:[") != line.npos) continue;
    const auto target = http::parse_target("GET", "http://" + std::string(line) + "/");
    if (alone.entries() > 0 && (!target || !alone.names(*target))) std::abort();
  }
  const lists::AccessLists lists(std::move(all).finish(1 - 1e-9), {});
  for (const char* url :
       {"http://a.test/ads/", "https://192.0.2.7:81/", "http://[2001:db8::1]/x"}) {
    lists.blocks(*http::parse_target("GET", url));
  }
  return 0;
}
