// Any bytes as a squid.conf and, after a line "%%", as a file that it names. The settings are
// always such as `hearsay check` accepts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/load.hpp"
#include "proxy/command/squid/import.hpp"

using namespace proxy::command;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto mark = all.find("\n%%\n");
  const std::string named(mark == all.npos ? std::string_view() : all.substr(mark + 4));
  const squid::Files files{[&](const std::string&) { return std::optional(named); },
                           [](const std::string& pattern) { return std::vector{pattern}; }};
  const auto denial = size % 2 == 0 ? squid::Denial::more : squid::Denial::less;
  const auto import = squid::import(all.substr(0, mark), "squid.conf", files, denial);
  squid::report(import);
  if (import.settings.size() > 256 * 1024) return 0;  // which is a finding
  const auto settings = config::load(import.settings);
  if (settings) return 0;
  for (const auto& error : settings.error()) {
    std::fprintf(stderr, "%s: %s\n", error.where.c_str(), error.what.c_str());
  }
  std::fprintf(stderr, "%s", import.settings.c_str());
  std::abort();
}
