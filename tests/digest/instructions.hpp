// What instructions tests can try here.
#pragma once

#include <vector>

#include "digest/siphash_lanes.hpp"

namespace digest {

inline std::vector<Instructions> instructions_here() {
  std::vector<Instructions> all{Instructions::portable};
  if (best_instructions() >= Instructions::avx2) all.push_back(Instructions::avx2);
  if (best_instructions() >= Instructions::avx512) all.push_back(Instructions::avx512);
  return all;
}

}  // namespace digest
