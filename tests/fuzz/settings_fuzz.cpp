// Settings: any bytes give settings or located errors.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto settings = config::load({reinterpret_cast<const char*>(data), size});
  if (settings.has_error() && settings.error().empty()) std::abort();
  return 0;
}
