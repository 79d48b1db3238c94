#include "proxy/observe/request_record.hpp"

#include <array>

namespace proxy::observe {
namespace {

// A WebSocket lasts as long as its two ends wish, which is no time of ours.
constexpr unsigned kSwitchingProtocols = 101;

struct TagWords {
  std::string_view squid;
  std::string_view metric;
};
// In the order of Tag.
constexpr std::array<TagWords, kTags> kTagWords{{
    {"NONE_NONE", "error"},
    {"TCP_MEM_HIT", "hit"},
    {"TCP_HIT", "disk_hit"},
    {"TCP_INM_HIT", "conditional_hit"},
    {"TCP_MISS", "miss"},
    {"TCP_MISS", "failed"},
    {"TCP_CLIENT_REFRESH_MISS", "client_refresh"},
    {"TCP_REFRESH_UNMODIFIED", "refresh_unmodified"},
    {"TCP_REFRESH_MODIFIED", "refresh_modified"},
    {"TCP_REFRESH_FAIL_OLD", "stale_hit"},
    {"TCP_DENIED", "denied"},
    {"TCP_TUNNEL", "tunnel"},
    {"NONE_NONE", "own_page"},
    {"TCP_MISS", "purge"},
    {"UDP_SITE_QUESTION", "site_question"},
}};
// In the order of their enumerators. Squid has CARP for parents that are chosen by a hash.
constexpr std::array<std::string_view, kHierarchies> kSquidCodes{
    "HIER_NONE", "HIER_DIRECT", "CD_SIBLING_HIT", "CD_PARENT_HIT", "CARP"};
constexpr std::array<std::string_view, kRequestOutcomes> kOutcomes{
    "hit", "disk_hit", "neighbour", "parent", "origin", "failed"};
constexpr std::array<std::string_view, kCuts> kCutWords{"", "stalled", "crowded", "heads", "slow"};

RequestOutcome outcome_by(Hierarchy hierarchy) {
  if (hierarchy == Hierarchy::parent) return RequestOutcome::parent;
  const bool is_stored = hierarchy == Hierarchy::sibling || hierarchy == Hierarchy::parent_hit;
  return is_stored ? RequestOutcome::neighbour : RequestOutcome::origin;
}

}  // namespace

std::string_view squid_tag(Tag tag) {
  return kTagWords[static_cast<std::size_t>(tag)].squid;
}

std::string_view metric_tag(Tag tag) {
  return kTagWords[static_cast<std::size_t>(tag)].metric;
}

std::string_view squid_code(Hierarchy hierarchy) {
  return kSquidCodes[static_cast<std::size_t>(hierarchy)];
}

std::string_view word(RequestOutcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::string_view word(Cut why) {
  return kCutWords[static_cast<std::size_t>(why)];
}

// Times are for those who ask how fast this proxy is: only requests for a response count.
std::optional<RequestOutcome> outcome_of(const RequestRecord& record) {
  switch (record.tag) {
    case Tag::mem_hit:
      return RequestOutcome::hit;
    case Tag::disk_hit:
      return RequestOutcome::disk_hit;
    case Tag::conditional_hit:
      return record.from_disk ? RequestOutcome::disk_hit : RequestOutcome::hit;
    case Tag::failed:
      return RequestOutcome::failed;
    case Tag::miss:  // without a source: only stored responses were asked for
      if (record.hierarchy == Hierarchy::none) return std::nullopt;
      [[fallthrough]];
    case Tag::client_refresh:
    case Tag::refresh_unmodified:
    case Tag::refresh_modified:
    case Tag::stale_hit:
      if (record.status == kSwitchingProtocols) return std::nullopt;
      return outcome_by(record.hierarchy);
    default:
      return std::nullopt;
  }
}

}  // namespace proxy::observe
