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

template <class Number>
Bytes bytes_at(const char* from) {
  Number bytes = 0;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

constexpr Bytes kCase = 0x2020202020202020;    // the bit in which the cases of a letter differ
constexpr Bytes kLetter = 0x4040404040404040;  // a bit of letters, but not of digits and hyphens

// Whether each byte of a name is the registered one, or the same letter in the other case.
bool alike(Bytes name, Bytes registered) {
  return ((name ^ registered) & ~((registered & kLetter) >> 1)) == 0;
}

// A name of up to 16 characters as a whole; of a longer one the ends.
struct Ends {
  Bytes first = 0;
  Bytes last = 0;  // may overlap the first
  std::size_t size = 0;

  explicit Ends(std::string_view name) : size(name.size()) {
    const auto* const at = name.data();
    if (size >= 8) {
      first = bytes_at<std::uint64_t>(at);
      last = bytes_at<std::uint64_t>(at + size - 8);
    } else if (size >= 4) {
      first = bytes_at<std::uint32_t>(at);
      last = bytes_at<std::uint32_t>(at + size - 4);
    } else if (size > 0) {
      first = bytes_at<std::uint8_t>(at) << 8 | bytes_at<std::uint8_t>(at + size / 2);
      last = bytes_at<std::uint8_t>(at + size - 1);
    }
  }
  Ends() = default;

  [[nodiscard]] bool are_those_of(const Ends& registered) const {
    return size == registered.size && alike(first, registered.first) &&
           alike(last, registered.last);
  }
  // The same in any case.
  [[nodiscard]] std::size_t hash() const {
    constexpr Bytes kOdd = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((((first | kCase) * kOdd ^ (last | kCase)) * kOdd) >> 32);
  }
};

bool same_middle(std::string_view name, const char* registered) {
  for (std::size_t at = 8; at + 8 < name.size(); at += 8) {
    if (!alike(bytes_at<std::uint64_t>(name.data() + at),
               bytes_at<std::uint64_t>(registered + at))) {
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
      if (ends.are_those_of(slot.ends) && same_middle(name, slot.name)) return slot.id;
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
