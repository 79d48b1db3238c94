// One record of the disk in words, and what is damaged there.
#pragma once

#include "proxy/cache/disk/verify.hpp"
#include "proxy/inspect/entry_facts.hpp"

namespace proxy::inspect {

// All that it says, whether its checksums fit, and in the end, as "head", the response's. Foreign
// bytes are as they came. Reads the body; waits for the disk.
Report record_of(const cache::disk::Key& key, const cache::disk::Stored& stored,
                 const Relations& relations);
// The same of what memory alone holds.
Report record_of(const cache::Entry& entry, const HeldBlocks& held);

Report report_of(const cache::disk::Damage& damage);

}  // namespace proxy::inspect
