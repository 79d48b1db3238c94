#include <utility>

#include "proxy/cache/stored_name.hpp"
#include "proxy/inspect/live.hpp"
#include "proxy/inspect/live_walk.hpp"
#include "proxy/inspect/slice.hpp"

namespace proxy::inspect {
namespace {

class LiveList final : public Slices {
 public:
  LiveList(const Live& live, std::string prefix)
      : walk_(live, [prefix = std::move(prefix)](std::string_view name) {
          return cache::url_in(name).starts_with(prefix);
        }) {}

  bool next(cache::Time now, std::string& out) override {
    const SliceLimit limit(out);
    const auto list = [&out](const EntryFacts& facts, std::string_view stored_as) {
      append(out, report_of(facts, stored_as));
    };
    while (!limit.reached()) {
      if (walk_.step(now, list)) continue;
      if (walk_.unreadable() > 0) append(out, Report().add("unreadable", walk_.unreadable()));
      return false;
    }
    return true;
  }

 private:
  LiveWalk walk_;
};

}  // namespace

std::unique_ptr<Slices> list_live(const Live& live, std::string prefix) {
  return std::make_unique<LiveList>(live, std::move(prefix));
}

}  // namespace proxy::inspect
