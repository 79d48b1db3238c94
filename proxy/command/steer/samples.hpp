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
  // Calls `with` for each sample of this name that has labels, with the labels as in the page.
  void each(std::string_view name,
            const std::function<void(std::string_view labels, double value)>& with) const;

 private:
  std::map<std::string, double, std::less<>> values_;
};

// The value of one of the labels that Samples::each() gives. Nothing: there is none of this name.
std::optional<std::string> label(std::string_view labels, std::string_view name);

}  // namespace proxy::command
