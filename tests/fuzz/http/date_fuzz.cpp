// A date that is read can be written and read back.
#include <cstdlib>

#include "proxy/http/date.hpp"

using namespace proxy::http;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'700'000'000)};
  const auto date = parse_date({reinterpret_cast<const char*>(data), size}, kNow);
  if (date && date < std::chrono::sys_days(std::chrono::year(9999) / 12 / 31) &&
      parse_date(format_date(*date), kNow) != date)
    std::abort();
  return 0;
}
