#include "proxy/observe/mirror_traffic.hpp"

#include <algorithm>
#include <array>

#include "proxy/observe/recent_requests.hpp"

namespace proxy::observe {
namespace {

// The upstream need not have sent the body.
bool is_saved(const RequestRecord& record) {
  constexpr std::array kStored{Tag::refresh_unmodified, Tag::stale_hit};
  const bool is_stored =
      kind_of(record) == RecentKind::hit || std::ranges::find(kStored, record.tag) != kStored.end();
  return is_stored || record.hierarchy == Hierarchy::sibling ||
         record.hierarchy == Hierarchy::parent_hit;
}

// The failure that the record tells of; empty: it tells of none.
std::string failure_in(const RequestRecord& record) {
  constexpr std::string_view kStoodIn = "stale-if-error/";
  const auto status = record.told.fwd_status.value_or(0);
  if (status == 429 || status >= 500) return std::to_string(status);
  if (!record.failure.empty()) return std::string(record.failure);
  const auto& detail = record.told.detail;
  const auto at = detail.find(kStoodIn);
  if (at == detail.npos) return {};
  const auto word = detail.substr(at + kStoodIn.size());
  return word.substr(0, word.find(' '));
}

}  // namespace

void MirrorTraffic::record(const RequestRecord& record, Time now) {
  if (record.recipe.empty()) return;
  const auto failure = failure_in(record);
  const threads::MutexLock lock(mutex_);
  auto found = all_.find(record.recipe);
  if (found == all_.end()) found = all_.emplace(record.recipe, RecipeTraffic()).first;
  auto& traffic = found->second;
  ++traffic.requests;
  if (is_saved(record)) {
    ++traffic.hits;
    traffic.bytes_saved += record.bytes;
  }
  if (failure.empty()) return;
  traffic.last_failure =
      record.upstream_host.empty() ? failure : record.upstream_host + ": " + failure;
  traffic.failed_at = now;
}

std::map<std::string, RecipeTraffic, std::less<>> MirrorTraffic::tell() const {
  const threads::MutexLock lock(mutex_);
  return all_;
}

}  // namespace proxy::observe
