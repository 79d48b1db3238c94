// The instruction sets that tests can try on this machine.
#pragma once

#include <vector>

#include "digest/processor.hpp"

namespace digest {

inline std::vector<Instructions> instructions_here() {
  std::vector<Instructions> all{Instructions::portable};
  if (kBestInstructions >= Instructions::avx2) all.push_back(Instructions::avx2);
  if (kBestInstructions >= Instructions::avx512) all.push_back(Instructions::avx512);
  return all;
}

}  // namespace digest
