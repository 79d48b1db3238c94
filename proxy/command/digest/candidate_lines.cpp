#include "proxy/command/digest/candidate_lines.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace proxy::command {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr std::uint64_t kOffset = (std::uint64_t{1} << 48) - 1;

}  // namespace

CandidateLines::CandidateLines(std::size_t budget)
    : budget_(budget), arena_(new std::byte[budget]), slots_(kFirstSlots) {}

// Returns the slot of the line, or the free slot where it belongs.
std::size_t CandidateLines::slot_of(std::string_view line, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t entry = slots_[slot];
    if (entry == 0) return slot;
    if ((entry ^ hash) >> 48 != 0) continue;
    const LineHeader& header = *header_at((entry & kOffset) - 1);
    if (header.hash == hash && line_of(header) == line) return slot;
  }
}

Added CandidateLines::add(std::string_view line, std::uint64_t hash) {
  std::size_t slot = slot_of(line, hash);
  if (slots_[slot] != 0) return Added::yes;
  const std::size_t need = bytes_for(line.size());
  if (size_ + 1 > slots_.size() / 4 * 3) {
    if (grow(need) == Added::no_room) return Added::no_room;
    slot = slot_of(line, hash);
  }
  if (used_ + need + slots_.size() * sizeof slots_[0] > budget_) return Added::no_room;
  auto* const header =
      new (arena_.get() + used_) LineHeader{hash, static_cast<std::uint32_t>(line.size()), 0};
  std::memcpy(header + 1, line.data(), line.size());
  slots_[slot] = (hash & ~kOffset) | (used_ + 1);
  used_ += need;
  ++size_;
  return Added::yes;
}

// Doubles the slots, if the budget allows for the new slots, the old ones and `need` more bytes.
Added CandidateLines::grow(std::size_t need) {
  const std::size_t more = 2 * slots_.size();
  if (used_ + need + (more + slots_.size()) * sizeof slots_[0] > budget_) return Added::no_room;
  const auto old = std::exchange(slots_, std::vector<std::uint64_t>(more));
  for (const std::uint64_t entry : old) {
    if (entry == 0) continue;
    const LineHeader& header = *header_at((entry & kOffset) - 1);
    slots_[slot_of(line_of(header), header.hash)] = entry;
  }
  return Added::yes;
}

void CandidateLines::confirm(std::string_view line, std::uint64_t hash, std::uint32_t round) {
  const std::uint64_t entry = slots_[slot_of(line, hash)];
  if (entry == 0) return;
  LineHeader& header = *header_at((entry & kOffset) - 1);
  if (header.mark + 1 == round) header.mark = round;
}

void CandidateLines::strike(std::string_view line, std::uint64_t hash) {
  const std::uint64_t entry = slots_[slot_of(line, hash)];
  if (entry != 0) header_at((entry & kOffset) - 1)->mark = kStruck;
}

}  // namespace proxy::command
