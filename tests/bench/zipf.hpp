// Requests as a crowd of clients makes them: few URLs often, many rarely.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace bench {

// Draws from 0 to count - 1, n with a probability in proportion to 1 / (n + 1)^alpha.
class Zipf {
 public:
  Zipf(std::size_t count, double alpha) {
    double sum = 0;
    for (std::size_t n = 1; n <= count; ++n) {
      sum += 1 / std::pow(static_cast<double>(n), alpha);
      sums_.push_back(sum);
    }
  }

  template <class Generator>
  std::size_t operator()(Generator& generator) const {
    const double point = std::uniform_real_distribution<>(0, sums_.back())(generator);
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), point);
    return std::min<std::size_t>(static_cast<std::size_t>(found - sums_.begin()), sums_.size() - 1);
  }

 private:
  std::vector<double> sums_;
};

}  // namespace bench
