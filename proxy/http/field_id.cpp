#include "proxy/http/field_id.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace proxy::http {
namespace {

using boost::beast::http::field;
using Bytes = std::uint64_t;

// Beast's names, `unknown` included.
constexpr std::size_t kRegistered = static_cast<std::size_t>(field::xref) + 1;

// The bytes as a number, in lower case. The operation changes other characters, too, but none of a
// token into one of a registered name.
template <class Number>
Bytes lower_bytes(const char* from) {
  Number bytes = 0;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes | (0x2020202020202020 & Number(-1));
}

// A name of up to 16 characters as a whole; of a longer one the ends.
struct Ends {
  Bytes first = 0;
  Bytes last = 0;  // may overlap the first
  std::size_t size = 0;

  explicit Ends(std::string_view name) : size(name.size()) {
    const auto* const at = name.data();
    if (size >= 8) {
      first = lower_bytes<std::uint64_t>(at);
      last = lower_bytes<std::uint64_t>(at + size - 8);
    } else if (size >= 4) {
      first = lower_bytes<std::uint32_t>(at);
      last = lower_bytes<std::uint32_t>(at + size - 4);
    } else if (size > 0) {
      first = lower_bytes<std::uint8_t>(at) << 8 | lower_bytes<std::uint8_t>(at + size / 2);
      last = lower_bytes<std::uint8_t>(at + size - 1);
    }
  }
  Ends() = default;
  bool operator==(const Ends&) const = default;

  [[nodiscard]] std::size_t hash() const {
    constexpr Bytes kOdd = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(((first * kOdd ^ last) * kOdd) >> 32);
  }
};

bool same_middle(std::string_view a, std::string_view b) {
  for (std::size_t at = 8; at + 8 < a.size(); at += 8) {
    if (lower_bytes<std::uint64_t>(a.data() + at) != lower_bytes<std::uint64_t>(b.data() + at)) {
      return false;
    }
  }
  return true;
}

// A hash table without chains: a name that finds its place taken gets the next free one.
class Names {
 public:
  Names() {
    for (std::size_t id = 1; id < kRegistered; ++id) {
      const std::string_view name = to_string(static_cast<field>(id));
      const Ends ends(name);
      auto at = ends.hash();
      while (slots_[at % kSlots].id != field::unknown) ++at;
      slots_[at % kSlots] = {ends, name.data(), static_cast<field>(id)};
    }
  }

  [[nodiscard]] field find(std::string_view name) const {
    const Ends ends(name);
    for (auto at = ends.hash();; ++at) {
      const auto& slot = slots_[at % kSlots];
      if (slot.id == field::unknown) return field::unknown;
      if (slot.ends == ends && same_middle(name, {slot.name, ends.size})) return slot.id;
    }
  }

 private:
  static constexpr std::size_t kSlots = 1024;

  struct Slot {
    Ends ends;
    const char* name = nullptr;
    field id = field::unknown;
  };
  std::array<Slot, kSlots> slots_;
};

}  // namespace

field field_id(std::string_view name) {
  static const Names names;
  return names.find(name);
}

}  // namespace proxy::http
