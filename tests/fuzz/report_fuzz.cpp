// Any bytes are a report or are refused. A report that is read and written again is the same.
#include <cstdlib>

#include "proxy/inspect/report.hpp"

using proxy::inspect::Report;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto report = Report::of_json(bytes);
  if (!report) return 0;
  const auto text = report->json(Report::Letters::ascii);
  const auto again = Report::of_json(text);
  if (!again || again->json(Report::Letters::ascii) != text) std::abort();
  return 0;
}
