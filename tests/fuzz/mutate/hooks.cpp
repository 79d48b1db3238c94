// Lets libFuzzer change HTTP messages as such, in three of four mutations.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tests/fuzz/mutate/messages.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

std::string_view text_at(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  fuzz::MessageMutator mutator(seed);
  std::string text(text_at(data, size));
  for (unsigned changes = 1 + seed / 4 % 4; changes > 0; --changes) {
    text = mutator.change(text, most);
  }
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* other, std::size_t other_size,
                                                 std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  const auto text =
      fuzz::MessageMutator(seed).cross(text_at(one, one_size), text_at(other, other_size), most);
  std::memcpy(out, text.data(), text.size());
  return text.size();
}
