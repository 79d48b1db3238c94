#include "proxy/http/fields.hpp"

#include <cstring>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

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

bool has_member(std::string_view list, std::string_view member) {
  const bool is_one = list.find(',') == std::string_view::npos;  // nearly always
  if (is_one) return same_word(list, member);
  Members members(list);
  while (const auto next = members.next())
    if (same_word(*next, member)) return true;
  return false;
}

}  // namespace

field field_id(std::string_view name) {
  // Made at the first call: Beast's texts must exist before.
  static const Names names;
  return names.find(name);
}

std::size_t member_end(std::string_view text) {
  // RFC 9110 5.6.4: within quotes, a backslash makes the next byte an ordinary one.
  const auto comma = std::min(text.find(','), text.size());
  if (text.substr(0, comma).find('"') == std::string_view::npos) return comma;  // nearly always
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      quoted = !quoted;
    else if (c == '\\' && quoted)
      ++i;
    else if (c == ',' && !quoted)
      return i;
  }
  return text.size();
}

void Fields::append(std::string_view name, std::string_view value) {
  append(field_id(name), name, value);
}

const Field* Fields::search(field id) const {
  for (const Field& line : lines_)
    if (line.id == id) return &line;
  return nullptr;
}

const Field* Fields::find(std::string_view name) const {
  for (const Field& line : lines_)
    if (same_word(line.name, name)) return &line;
  return nullptr;
}

std::size_t Fields::count(field id) const {
  // Nearly always: a rule asks for fields that most heads lack.
  if (!may_have(id)) return 0;
  return static_cast<std::size_t>(
      std::count_if(begin(), end(), [id](const Field& line) { return line.id == id; }));
}

std::string_view Fields::only_value(std::string_view name) const {
  const Field* only = nullptr;
  for (const Field& line : lines_) {
    if (!same_word(line.name, name)) continue;
    if (only) return {};
    only = &line;
  }
  return only ? only->value : std::string_view();
}

std::string_view Fields::value(field id) const {
  const Field* line = find(id);
  return line ? line->value : std::string_view{};
}

bool Members::next_line() {
  while (line_ != end_) {
    const Field& line = *line_++;
    if (line.id != id_) continue;
    rest_ = line.value;
    return true;
  }
  return false;
}

std::optional<std::string_view> Members::next() {
  do {
    while (!rest_.empty()) {
      const std::size_t end = member_end(rest_);
      const std::string_view member = trim(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (!member.empty()) return member;
    }
  } while (next_line());
  return {};
}

bool has_member(const Fields& fields, field id, std::string_view member) {
  if (!fields.may_have(id)) return false;
  return std::ranges::any_of(
      fields, [&](const Field& line) { return line.id == id && has_member(line.value, member); });
}

Fields copied_to(char* memory, const Fields& fields) {
  const auto copy = [&memory](std::string_view part) {
    const std::string_view copied(memory, part.size());
    memory = std::copy_n(part.data(), part.size(), memory);
    return copied;
  };
  Fields copies;
  for (const Field& line : fields) {
    const auto name = copy(line.name);
    copies.append({line.id, name, copy(line.value), line.selects});
  }
  return copies;
}

OwnedFields::OwnedFields(const Fields& original) : text_(text_size(original), '\0') {
  fields_ = copied_to(text_.data(), original);
}

}  // namespace proxy::http
