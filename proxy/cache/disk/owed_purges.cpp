#include "proxy/cache/disk/owed_purges.hpp"

namespace proxy::cache::disk {
namespace {

constexpr std::size_t kMostOwed = 65'536;

}  // namespace

void OwedPurges::add(NewRecord record) {
  // A record that was queued before the purge may have been added to the index since.
  if (record.header.kind == RecordKind::purge) catalog_.index.erase(record.header.key);
  if (records_.size() >= kMostOwed) return add_everything();
  records_.push_back(std::move(record));
}

void OwedPurges::add_everything() {
  records_.clear();
  catalog_.rules.cover_all();
  records_.push_back({.header = {.kind = RecordKind::purge_prefix}, .url = {}, .head = {}});
}

}  // namespace proxy::cache::disk
