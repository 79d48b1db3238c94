// A squid.conf as settings of Hearsay, and what has no equal there.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "proxy/command/squid/lines.hpp"
#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Declares `hearsay import-squid FILE`. Call the result, which returns the exit code, if the
// command line names it.
std::function<int(const Streams&)> add_import_squid(CLI::App& program);

namespace squid {

// The files of the system. `read` reads ordinary files only, and may block as these do.
Files system_files();

struct Import {
  std::string settings;  // JSON with comments, as config::load() reads it
  Findings findings;     // in the order of the lines; one line can have several

  // Whether nothing was left out, and nothing is wider.
  [[nodiscard]] bool is_complete() const;
};

// With Denial::more, the settings refuse every request that Squid would refuse by the lines.
// `file`: how findings name it. Safe on any bytes; bounded by the limits of lines.hpp. Reads
// nothing but what `files` gives.
Import import(std::string_view text, const std::string& file, const Files& files,
              Denial denial = Denial::more);

// The findings as text for a person, one a line: "FILE:LINE: DIRECTIVE ...: why".
std::string report(const Import& import);

}  // namespace squid
}  // namespace proxy::command
