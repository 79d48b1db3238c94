#include <utility>
#include <vector>

#include "proxy/cache/stored_name.hpp"
#include "proxy/inspect/live.hpp"
#include "proxy/inspect/live_relations.hpp"
#include "proxy/inspect/record_facts.hpp"
#include "proxy/inspect/slice.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;

class LiveShow final : public Slices {
 public:
  LiveShow(const Live& live, std::string url)
      : live_(live),
        relations_(live_),
        names_{url, std::string(cache::kReverseSpace) + std::move(url)} {}

  bool next(cache::Time now, std::string& out) override {
    if (!std::exchange(begun_, true)) {
      for (const auto& name : names_) tell_of(name, now, out);
    }
    const SliceLimit limit(out);
    while (walk_ && !limit.reached()) {
      const auto step = walk_->next();
      if (step) {
        tell(*step, out, true);
      } else {
        walk_.reset();
      }
    }
    return walk_.has_value();
  }

 private:
  bool is_meant(std::string_view name) const { return name == names_[0] || name == names_[1]; }

  void tell_of(const std::string& name, cache::Time now, std::string& out) {
    const auto key = digest::key_of(digest::Method::get, name);
    std::vector<cache::Store::Response> held;
    live_.memory.look(key, held);
    for (const auto& one : held) {
      if (one.entry->url() != name || relations_.on_disk(one)) continue;
      const auto blocks = relations_.stored_blocks(key, *one.entry);
      auto facts = facts_of(*one.entry, blocks, now);
      facts.hits = one.hits;
      append(out, begin(name, facts).add(record_of(*one.entry, blocks)));
    }
    const auto place = live_.disk ? live_.disk->disk().catalog().index.find(key) : std::nullopt;
    if (!place) return;
    tell({key, *place}, out, false);
    if (place->kind == RecordKind::selector && !walk_) {
      walk_.emplace(live_.disk->disk().catalog().index, is_response);
    }
  }

  // Reports the record if it is a variant and `variants` is true, or if it is none and `variants`
  // is false. Records that the URL alone leads to are reported before the walk.
  void tell(const disk::Walk::Step& step, std::string& out, bool variants) {
    auto& store = live_.disk->disk();
    const auto stored = store.open(step.key, step.place, disk::Wait::yes);
    if (!stored || !is_meant(stored->url())) return;
    const auto url = stored->url();
    const bool is_variant = step.key != digest::key_of(digest::Method::get, url);
    if (is_variant != variants || !store.holds(step.key, url, step.place.at)) return;
    EntryFacts facts;
    add_uses(facts, live_, url, step);
    append(out, begin(url, facts).add(record_of(step.key, *stored, relations_)));
  }

  static Report begin(std::string_view url, const EntryFacts& facts) {
    Report report;
    report.add("stored_as", std::string(url)).add("where", std::string(facts.where));
    return report.add("hits", *facts.hits);
  }

  const Live live_;
  const LiveRelations relations_;
  const std::array<std::string, 2> names_;
  bool begun_ = false;
  std::optional<disk::Walk> walk_;
};

}  // namespace

std::unique_ptr<Slices> show_live(const Live& live, std::string url) {
  return std::make_unique<LiveShow>(live, std::move(url));
}

}  // namespace proxy::inspect
