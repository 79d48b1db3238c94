// Checks whether all bytes of a segment are as they were written.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "proxy/cache/disk/file.hpp"

namespace proxy::cache::disk {

enum class Fault : std::uint8_t {
  unreadable,      // the system refused to read
  segment_header,  // damaged; the records can be read all the same
  other_version,   // of the format: nothing is read, and a start removes the segment
  too_long,        // for a segment: nothing is read, and a start removes the segment
  no_record,       // no record where one should begin
  head,            // the checksum of header, URL and head does not match
  body,            // the checksum of the body does not match
  footer,          // damaged, or it lists other records; a start finds the records by replay
  unsure,          // a good record behind damage of unknown length: a sender may have forged it
};

// A text for people.
std::string_view to_string(Fault fault);

struct Damage {
  Fault fault = Fault::unreadable;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  // How many bytes from `offset` on a start cannot use; 0 if it can use all.
  std::uint64_t lost_bytes = 0;
  std::string_view url;  // of the record, if its head is good; a client chose these bytes
};

struct Verified {
  std::uint64_t records = 0;  // good ones
  std::uint64_t bytes = 0;    // read
  std::uint64_t damages = 0;
};

// Reads the whole segment, checks every checksum, and calls `report` for each damage in order. If a
// crash cut the end of the newest segment, that is reported as damage, because the two look alike.
// Takes memory for the largest record; for a segment without footer, memory for the whole segment.
Verified verify(const File& file, std::uint32_t segment,
                const std::function<void(const Damage&)>& report);

}  // namespace proxy::cache::disk
