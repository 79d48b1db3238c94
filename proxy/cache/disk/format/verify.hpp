// Checks whether all bytes of a segment are as they were written.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "proxy/cache/disk/format/file.hpp"

namespace proxy::cache::disk {

enum class Fault : std::uint8_t {
  unreadable,      // the system refused to read
  segment_header,  // damaged; the records are read all the same
  other_version,   // of the format: nothing is read, and a start removes the segment
  too_long,        // for a segment: the same
  no_record,       // where one should begin
  head,            // the checksum of header, URL and head does not match
  body,            // the checksum of the body does not match
  footer,          // damaged, or lists another record; records are found without it
  unsure,          // a good record behind damage of unknown length: perhaps part of a body
};

// For people.
std::string_view to_string(Fault fault);

struct Damage {
  Fault fault = Fault::unreadable;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  // How many bytes from `offset` a start cannot use; 0 where it can use all.
  std::uint64_t lost_bytes = 0;
  std::string_view url;  // of the record, where it is sure; unchecked bytes of a client
};

struct Verified {
  std::uint64_t records = 0;  // good ones
  std::uint64_t bytes = 0;    // read
  std::uint64_t damages = 0;
};

// Reads the whole segment and checks every checksum; calls `tell` for each damage, in order. A
// crash may have cut the end of the newest segment, which cannot be told from damage. Takes memory
// for the largest record, or for the whole segment where it has no footer.
Verified verify(const File& file, std::uint32_t segment,
                const std::function<void(const Damage&)>& tell);

}  // namespace proxy::cache::disk
