// Joins or begins runs of an object, for one answer.
#pragma once

#include <memory>

#include "digest/key.hpp"
#include "proxy/blocks/block_runs.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy {

struct FetchAccess;

// One request for an object. The request outlives it.
struct ObjectRequest {
  const Request& request;
  digest::Key key;  // of the URL
  cache::Ref<const cache::Entry> object;
  bool may_fetch = true;
  const ClientShare* client = nullptr;  // for TransferSlots; outlives it
};

// Joins the run that supplies a block, or begins a run and starts its fetch. Belongs to one
// coroutine; the access and the request outlive it.
class RunStarter {
 public:
  RunStarter(FetchAccess& access, const ObjectRequest& of);

  // Whether this request may begin a run: it may fetch, the object's length is known, and the
  // origin can be asked for exactly this version.
  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] bool is_stored(std::uint32_t block) const;
  // As BlockRuns::take(), but begins a run only if may_begin().
  BlockRuns::Taken take(std::uint32_t block, std::uint32_t last, BlockRuns::Wanted::Begin begin,
                        const BlockRuns::IsStored& is_stored) const;

 private:
  FetchAccess& access_;
  const ObjectRequest& of_;
  // Shared by all runs of the answer, so that together they wait for the disk no longer than one.
  const std::shared_ptr<DiskPatience> patience_;
};

}  // namespace proxy
