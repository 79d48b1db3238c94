// What /metrics says, and the difference between two looks at it. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::command {

// The samples of a page in Prometheus' text format.
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

struct Rates {
  double requests = 0;              // per second, without those for our own pages
  std::optional<double> hits;       // the share of them that the cache answered
  std::optional<double> byte_hits;  // the share of body bytes that came from the cache
  double to_clients = 0;            // bytes per second
  double from_neighbours = 0;       // likewise
  double from_origins = 0;          // likewise; parents that fetched for us included
  std::optional<double> median;     // seconds to the first byte, if the page has a histogram
  double connections = 0;
  struct Peer {
    std::string name;
    double true_hits = 0;  // per second
    double saved = 0;      // bytes per second
  };
  std::vector<Peer> peers;  // the busiest first
};

// `own_bytes`: of those sent meanwhile, how many were sent to the one who looks.
Rates rates_between(const Samples& before, const Samples& after,
                    std::chrono::duration<double> passed, std::uint64_t own_bytes = 0);

// In lines of at most 38 columns, for a phone.
std::string top_text(const Rates& rates);
// One line with one JSON object.
std::string top_json(const Rates& rates);

}  // namespace proxy::command
