// A page in Prometheus' text format, as the samples that it holds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace proxy::command {

class Samples {
 public:
  // Passes over lines that are no samples. Safe on any bytes.
  explicit Samples(std::string_view text);

  // The sample with this name and these labels, written as in the page. Nothing: it is unknown.
  [[nodiscard]] std::optional<double> find(std::string_view name) const;
  // As find(), with 0 for an unknown sample.
  [[nodiscard]] double get(std::string_view name) const { return find(name).value_or(0); }
  // The sum of all samples of this name, whatever their labels.
  [[nodiscard]] double sum(std::string_view name) const;

 private:
  std::map<std::string, double, std::less<>> values_;
};

}  // namespace proxy::command
