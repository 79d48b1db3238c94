#include "proxy/inspect/slice.hpp"

#include <vector>

#include "proxy/cache/on_disk.hpp"

namespace proxy::inspect {

bool is_response(const cache::disk::Location& place) {
  return place.kind != cache::disk::RecordKind::block &&
         place.kind != cache::disk::RecordKind::selector;
}

void add_uses(EntryFacts& facts, const Live& live, std::string_view url,
              const cache::disk::Walk::Step& step) {
  std::uint64_t hits = step.place.hits;
  std::vector<cache::Store::Response> held;
  live.memory.look(digest::key_of(digest::Method::get, url), held);
  for (const auto& one : held) {
    const auto& on_disk = one.on_disk;
    if (!on_disk || on_disk->front() == 0 || on_disk->key() != step.key) continue;
    hits += one.hits;
    facts.where = "memory and disk";
  }
  facts.hits = hits;
}

}  // namespace proxy::inspect
