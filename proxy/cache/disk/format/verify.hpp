// Whether all that a segment holds is as it was written.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "proxy/cache/disk/format/file.hpp"

namespace proxy::cache::disk {

enum class Fault : std::uint8_t {
  unreadable,      // the system refused
  segment_header,  // damaged; what follows is read all the same
  other_version,   // of the format: nothing in it is looked at, and a start removes it
  too_long,        // for a segment: likewise
  no_record,       // where one should begin
  head,            // the checksum of header, URL and head does not fit
  body,            // that of the body does not
  footer,          // damaged, or tells of another record; records are found without
  unsure,          // good, but behind damage of unknown length: it might be a part of that
};

// For a person: what it is.
std::string_view to_string(Fault fault);

struct Damage {
  Fault fault = Fault::unreadable;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  // From there, which a start cannot use; 0 where all the same can be.
  std::uint64_t lost_bytes = 0;
  std::string_view url;  // of the record, where that is sure; foreign bytes
};

struct Verified {
  std::uint64_t records = 0;  // that are good
  std::uint64_t bytes = 0;    // that were read
  std::uint64_t damages = 0;
};

// Reads all of it and checks every checksum; `tell` hears of each damaged place, in their order.
// The end of the newest segment may be what a crash has cut, which cannot be told from damage.
// Needs memory for the largest record, or the whole where there is no footer.
Verified verify(const File& file, std::uint32_t segment,
                const std::function<void(const Damage&)>& tell);

}  // namespace proxy::cache::disk
