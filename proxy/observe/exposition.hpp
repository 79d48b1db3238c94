// Prometheus' text format, one metric at a time.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

namespace proxy::observe {

// Appends a metric's help and type, before its samples. `type`: "counter", whose name ends in
// "_total", or "gauge".
inline void describe(std::string& out, std::string_view name, std::string_view type,
                     std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

// Appends a metric with its only sample.
template <class Value>
void single(std::string& out, std::string_view name, std::string_view type, std::string_view help,
            Value value) {
  describe(out, name, type, help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace proxy::observe
