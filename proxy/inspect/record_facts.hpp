// The facts of one record on disk, and of damage to it.
#pragma once

#include "proxy/cache/disk/verify.hpp"
#include "proxy/inspect/entry_facts.hpp"

namespace proxy::inspect {

// Every field of the record, whether its checksums fit, and last, as "head", the response's head.
// Foreign bytes are not escaped. Reads the body; waits for the disk.
Report record_of(const cache::disk::Key& key, const cache::disk::StoredRecord& stored,
                 const Relations& relations);
// The same facts for an entry that only memory holds.
Report record_of(const cache::Entry& entry, const StoredBlocks& held);

Report report_of(const cache::disk::Damage& damage);

}  // namespace proxy::inspect
