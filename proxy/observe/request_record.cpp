#include "proxy/observe/request_record.hpp"

namespace proxy {

std::string_view squid_tag(Tag tag) {
  switch (tag) {
    case Tag::none:
      return "NONE_NONE";
    case Tag::mem_hit:
      return "TCP_MEM_HIT";
    case Tag::disk_hit:
      return "TCP_HIT";
    case Tag::conditional_hit:
      return "TCP_INM_HIT";
    case Tag::miss:
    case Tag::failed:
      return "TCP_MISS";
    case Tag::client_refresh:
      return "TCP_CLIENT_REFRESH_MISS";
    case Tag::refresh_unmodified:
      return "TCP_REFRESH_UNMODIFIED";
    case Tag::refresh_modified:
      return "TCP_REFRESH_MODIFIED";
    case Tag::stale_hit:
      return "TCP_REFRESH_FAIL_OLD";
    case Tag::denied:
      return "TCP_DENIED";
    case Tag::tunnel:
      return "TCP_TUNNEL";
    case Tag::own_page:
      return "NONE_NONE";
    case Tag::purge:
      return "TCP_MISS";
    case Tag::site_question:
      return "UDP_SITE_QUESTION";
  }
  return "NONE_NONE";
}

std::string_view metric_tag(Tag tag) {
  switch (tag) {
    case Tag::none:
      return "error";
    case Tag::mem_hit:
      return "hit";
    case Tag::disk_hit:
      return "disk_hit";
    case Tag::conditional_hit:
      return "conditional_hit";
    case Tag::miss:
      return "miss";
    case Tag::failed:
      return "failed";
    case Tag::client_refresh:
      return "client_refresh";
    case Tag::refresh_unmodified:
      return "refresh_unmodified";
    case Tag::refresh_modified:
      return "refresh_modified";
    case Tag::stale_hit:
      return "stale_hit";
    case Tag::denied:
      return "denied";
    case Tag::tunnel:
      return "tunnel";
    case Tag::own_page:
      return "own_page";
    case Tag::purge:
      return "purge";
    case Tag::site_question:
      return "site_question";
  }
  return "error";
}

std::string_view word(RequestOutcome outcome) {
  switch (outcome) {
    case RequestOutcome::hit:
      return "hit";
    case RequestOutcome::disk_hit:
      return "disk_hit";
    case RequestOutcome::neighbour:
      return "neighbour";
    case RequestOutcome::parent:
      return "parent";
    case RequestOutcome::origin:
      return "origin";
    case RequestOutcome::failed:
      return "failed";
  }
  return "";
}

std::string_view squid_code(Hierarchy hierarchy) {
  switch (hierarchy) {
    case Hierarchy::none:
      return "HIER_NONE";
    case Hierarchy::direct:
      return "HIER_DIRECT";
    case Hierarchy::sibling:
      return "CD_SIBLING_HIT";
    case Hierarchy::parent_hit:
      return "CD_PARENT_HIT";
    case Hierarchy::parent:
      return "CARP";  // Squid's code for parents chosen by a hash
  }
  return "HIER_NONE";
}

std::string_view word(Cut why) {
  switch (why) {
    case Cut::none:
      return "";
    case Cut::stalled:
      return "stalled";
    case Cut::crowded:
      return "crowded";
    case Cut::heads:
      return "heads";
    case Cut::slow:
      return "slow";
  }
  return "";
}

}  // namespace proxy
