#include "proxy/command/cache/scanned_relations.hpp"

namespace proxy::command {

namespace disk = cache::disk;
using disk::RecordKind;

ScannedRelations::ScannedRelations(const disk::Contents& contents) {
  contents.each(
      [this](const disk::Contents::Seen& seen) {
        if (!seen.stored) return true;
        const disk::RecordHeader& header = seen.stored->header();
        if (header.kind == RecordKind::block) {
          auto& held = objects_[header.version];
          held.numbers.push_back(header.block);
          held.bytes += header.body_bytes;
          held.disk_bytes += header.bytes();
        } else if (const auto selector = cache::decode_selector(seen.stored->head())) {
          selectors_.insert(selector->number);
        }
        return true;
      },
      [](const disk::Location& place) {
        return place.kind == RecordKind::block || place.kind == RecordKind::selector;
      });
}

inspect::StoredBlocks ScannedRelations::stored_blocks(const disk::StoredRecord& object,
                                                      std::uint64_t) const {
  const auto found = objects_.find(object.header().version);
  return found == objects_.end() ? inspect::StoredBlocks{} : found->second;
}

bool ScannedRelations::leads_to(const disk::StoredRecord&, std::uint64_t selector) const {
  return selector == 0 || selectors_.contains(selector);
}

}  // namespace proxy::command
