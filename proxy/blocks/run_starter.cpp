#include "proxy/blocks/run_starter.hpp"

#include <utility>

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/partial.hpp"

namespace proxy {

RunStarter::RunStarter(FetchAccess& access, const ObjectRequest& of)
    : access_(access),
      of_(of),
      patience_(std::make_shared<DiskPatience>(access.clock().steady())) {}

bool RunStarter::may_begin() const {
  return of_.may_fetch && !of_.object->range() && !cache::strong_validator(*of_.object).empty();
}

bool RunStarter::is_stored(std::uint32_t block) const {
  return has_block(access_.cache(), of_.key, *of_.object, block);
}

BlockRuns::Taken RunStarter::take(std::uint32_t block, std::uint32_t last,
                                  BlockRuns::Wanted::Begin begin,
                                  const BlockRuns::IsStored& is_stored) const {
  BlockRuns::Wanted wanted{of_.object, block, last, begin};
  if (!may_begin()) wanted.begin = BlockRuns::Wanted::Begin::no;
  auto taken = access_.runs.take(wanted, is_stored, access_.executor());
  if (taken.begun) {
    RunJob job{taken.use.run(), of_.key, std::make_unique<OwnedRequest>(of_.request), patience_};
    start_run(access_, std::move(job));
  }
  return taken;
}

}  // namespace proxy
