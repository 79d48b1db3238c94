#include "proxy/command/digest/candidate_lines.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace proxy::command {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr std::uint64_t kPlace = (std::uint64_t{1} << 48) - 1;

}  // namespace

Candidates::Candidates(std::size_t budget)
    : budget_(budget), arena_(new std::byte[budget]), slots_(kFirstSlots) {}

// Where the line is, or the free slot where it would be.
std::size_t Candidates::slot_of(std::string_view line, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t entry = slots_[slot];
    if (entry == 0) return slot;
    if ((entry ^ hash) >> 48 != 0) continue;
    const Record& record = *record_at((entry & kPlace) - 1);
    if (record.hash == hash && line_of(record) == line) return slot;
  }
}

bool Candidates::add(std::string_view line, std::uint64_t hash) {
  std::size_t slot = slot_of(line, hash);
  if (slots_[slot] != 0) return true;
  const std::size_t need = bytes_for(line.size());
  if (size_ + 1 > slots_.size() / 4 * 3) {
    if (!grow(need)) return false;
    slot = slot_of(line, hash);
  }
  if (used_ + need + slots_.size() * sizeof slots_[0] > budget_) return false;
  auto* const record =
      new (arena_.get() + used_) Record{hash, static_cast<std::uint32_t>(line.size()), 0};
  std::memcpy(record + 1, line.data(), line.size());
  slots_[slot] = (hash & ~kPlace) | (used_ + 1);
  used_ += need;
  ++size_;
  return true;
}

// Twice as many slots, if these, the old ones and `need` more bytes fit in.
bool Candidates::grow(std::size_t need) {
  const std::size_t more = 2 * slots_.size();
  if (used_ + need + (more + slots_.size()) * sizeof slots_[0] > budget_) return false;
  const auto old = std::exchange(slots_, std::vector<std::uint64_t>(more));
  for (const std::uint64_t entry : old) {
    if (entry == 0) continue;
    const Record& record = *record_at((entry & kPlace) - 1);
    slots_[slot_of(line_of(record), record.hash)] = entry;
  }
  return true;
}

void Candidates::confirm(std::string_view line, std::uint64_t hash, std::uint32_t round) {
  const std::uint64_t entry = slots_[slot_of(line, hash)];
  if (entry == 0) return;
  Record& record = *record_at((entry & kPlace) - 1);
  if (record.mark + 1 == round) record.mark = round;
}

void Candidates::strike(std::string_view line, std::uint64_t hash) {
  const std::uint64_t entry = slots_[slot_of(line, hash)];
  if (entry != 0) record_at((entry & kPlace) - 1)->mark = kStruck;
}

}  // namespace proxy::command
