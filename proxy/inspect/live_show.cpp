#include <algorithm>
#include <utility>
#include <vector>

#include "proxy/cache/stored_name.hpp"
#include "proxy/inspect/live_parts.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;

class LiveShow final : public Slices {
 public:
  LiveShow(const Live& live, std::string_view url)
      : live_(live),
        relations_(live_),
        names_{cache::StoredName{cache::Space::web, url}.encode(),
               cache::StoredName{cache::Space::gateway, url}.encode()} {}

  bool next(machine::Clock& clock, std::string& out) override {
    if (!std::exchange(begun_, true)) {
      for (const auto& name : names_) write_at_url(name, out);
    }
    const SliceLimit limit(clock, out);
    while (walk_ && !limit.reached()) {
      if (const auto step = walk_->next()) {
        write(*step, Kind::variant, out);
      } else {
        walk_.reset();
      }
    }
    return walk_.has_value();
  }

 private:
  // A variant lies under a key of its own. All other records the URL's key alone leads to.
  enum class Kind : std::uint8_t { at_url, variant };

  void write_at_url(const std::string& name, std::string& out) {
    const auto key = digest::key_of(digest::Method::get, name);
    std::vector<cache::Store::Response> held;
    live_.memory.look(key, held);
    for (const auto& one : held) {
      if (one.entry->url() != name || relations_.on_disk(one)) continue;
      const auto blocks = relations_.stored_blocks(key, *one.entry);
      const EntryFacts uses{.hits = one.hits, .where = "memory"};
      append(out, begin(name, uses).add(record_of(*one.entry, blocks)));
    }
    const auto place = live_.disk ? live_.disk->disk().catalog().index.find(key) : std::nullopt;
    if (!place) return;
    write({key, *place}, Kind::at_url, out);
    if (place->kind == RecordKind::selector && !walk_) {
      walk_.emplace(live_.disk->disk().catalog().index, is_response);
    }
  }

  // Writes the record if it is of one of the names and of this kind. The walk, which meets all
  // records, must not repeat what was written before it began.
  void write(const disk::Walk::Step& step, Kind wanted, std::string& out) {
    auto& store = live_.disk->disk();
    const auto stored = store.open(step.key, step.place, disk::Wait::yes);
    if (!stored || std::find(names_.begin(), names_.end(), stored->url()) == names_.end()) return;
    const auto url = stored->url();
    const bool at_url = step.key == digest::key_of(digest::Method::get, url);
    const auto kind = at_url ? Kind::at_url : Kind::variant;
    if (kind != wanted || !store.holds(step.key, url, step.place.at)) return;
    EntryFacts uses;
    relations_.add_uses(uses, url, step);
    append(out, begin(url, uses).add(record_of(step.key, *stored, relations_)));
  }

  static Report begin(std::string_view url, const EntryFacts& uses) {
    Report report;
    report.add("stored_as", std::string(url)).add("where", std::string(uses.where));
    return report.add("hits", *uses.hits);
  }

  const Live live_;
  const LiveRelations relations_;
  const std::array<std::string, 2> names_;
  bool begun_ = false;
  std::optional<disk::Walk> walk_;
};

}  // namespace

std::unique_ptr<Slices> show_live(const Live& live, std::string url) {
  return std::make_unique<LiveShow>(live, url);
}

}  // namespace proxy::inspect
