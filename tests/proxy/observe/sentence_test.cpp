#include "proxy/observe/sentence.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using http::Forward;
using std::chrono::seconds;

struct Told {
  const char* name;
  RequestRecord record;
  std::string sentence;
};
class SentenceAbout : public testing::TestWithParam<Told> {};

TEST_P(SentenceAbout, ARequestTellsWhatBecameOfIt) {
  EXPECT_EQ(sentence_of(GetParam().record), GetParam().sentence);
}

RequestRecord hit(Tag tag, int ttl, std::string detail = "") {
  RequestRecord record;
  record.tag = tag;
  record.told = {.hit = true, .fwd_status = {}, .ttl = seconds(ttl), .key = {}, .detail = detail};
  return record;
}

struct Stored {
  std::optional<seconds> ttl = seconds(300);
};
RequestRecord forwarded(Hierarchy from, Claimed claimed, std::string detail, Stored stored = {},
                        Forward why = Forward::uri_miss, Tag tag = Tag::miss) {
  RequestRecord record;
  record.tag = tag;
  record.hierarchy = from;
  record.claimed = claimed;
  record.told = {.fwd = why,
                 .fwd_status = {},
                 .ttl = stored.ttl,
                 .stored = stored.ttl.has_value(),
                 .key = {},
                 .detail = detail};
  return record;
}

RequestRecord failed(std::string_view failure) {
  RequestRecord record;
  record.tag = Tag::failed;
  record.failure = failure;
  record.hierarchy = Hierarchy::direct;
  record.told.detail = failure;
  return record;
}

RequestRecord denied(std::string detail) {
  RequestRecord record;
  record.tag = Tag::denied;
  record.told.detail = detail;
  return record;
}

RequestRecord joined() {
  auto record = forwarded(Hierarchy::direct, Claimed::by_nobody, "");
  record.collapsed = true;
  return record;
}

RequestRecord left_early() {
  auto record = forwarded(Hierarchy::direct, Claimed::unknown, "");
  record.aborted = true;
  return record;
}

RequestRecord cut() {
  auto record = hit(Tag::mem_hit, 9);
  record.aborted = true;
  record.cut = Cut::stalled;
  return record;
}

constexpr Stored kNot{std::nullopt};

INSTANTIATE_TEST_SUITE_P(
    Requests, SentenceAbout,
    testing::Values(
        Told{"Memory", hit(Tag::mem_hit, 300), "answered from memory; fresh for another 300 s"},
        Told{"Disk", hit(Tag::disk_hit, 1), "answered from disk; fresh for another 1 s"},
        Told{"NotModified", hit(Tag::conditional_hit, 5),
             "the client's own copy is current; fresh for another 5 s"},
        Told{"Refreshed", hit(Tag::mem_hit, -5, "stale-while-revalidate"),
             "answered from memory; stale, and being validated meanwhile; stale for 5 s"},
        Told{"Rule", hit(Tag::mem_hit, 5, "rule/packages"),
             "answered from memory; fresh for another 5 s; by the rule packages"},
        Told{"TrueHit", forwarded(Hierarchy::sibling, Claimed::by_some, "peer/cache-b"),
             "asked cache-b: its digest claimed this; it was right; stored for 300 s"},
        Told{"TrueHitOfAParent",
             forwarded(Hierarchy::parent_hit, Claimed::by_some, "peer/up", kNot),
             "asked up: its digest claimed this; it was right"},
        Told{
            "LeftThere",
            forwarded(Hierarchy::sibling, Claimed::by_some, "not-stored/duplicate peer/b", kNot),
            "asked b: its digest claimed this; it was right; not stored: the neighbour is close at "
            "hand and keeps it"},
        Told{"NobodyClaimedIt", forwarded(Hierarchy::direct, Claimed::by_nobody, ""),
             "fetched from the origin: nobody claimed it; stored for 300 s"},
        Told{"NobodyWasConsulted", forwarded(Hierarchy::direct, Claimed::unknown, ""),
             "fetched from the origin; stored for 300 s"},
        Told{
            "FalseHit", forwarded(Hierarchy::direct, Claimed::by_some, "false-hit/b because/gone"),
            "asked b: its digest claimed this; it was wrong: it had dropped it since; fetched from "
            "the origin; stored for 300 s"},
        Told{"Outrun", forwarded(Hierarchy::direct, Claimed::by_some, "outrun/b"),
             "asked b, too: another source was faster; fetched from the origin; stored for 300 s"},
        Told{"SiteFetch", forwarded(Hierarchy::sibling, Claimed::by_nobody, "peer/b"),
             "nobody claimed it; b was fetching it and gave it; stored for 300 s"},
        Told{"Parent", forwarded(Hierarchy::parent, Claimed::unknown, "parent/up"),
             "fetched through the parent up; stored for 300 s"},
        Told{"NoStore", forwarded(Hierarchy::direct, Claimed::unknown, "not-stored/no-store", kNot),
             "fetched from the origin; not stored: its origin forbids it (no-store)"},
        Told{"NewReason",
             forwarded(Hierarchy::direct, Claimed::unknown, "not-stored/some-reason", kNot),
             "fetched from the origin; not stored: some-reason"},
        Told{"Validated",
             forwarded(Hierarchy::direct, Claimed::unknown, "", {}, Forward::stale,
                       Tag::refresh_unmodified),
             "what is held here was stale; the origin confirmed it; stored for 300 s"},
        Told{"ClientWantsNoCopy",
             forwarded(Hierarchy::direct, Claimed::unknown, "", {}, Forward::request,
                       Tag::client_refresh),
             "the client wants no stored copy; fetched from the origin; stored for 300 s"},
        Told{"StandsIn",
             forwarded(Hierarchy::direct, Claimed::unknown, "stale-if-error/unreachable",
                       {seconds(-60)}, Forward::stale, Tag::stale_hit),
             "the origin failed, so a stale response stands in; the server could not be reached; "
             "stale for 60 s"},
        Told{"Collapsed", joined(),
             "waited for the answer to another client's request; stored for 300 s"},
        Told{"NotHeld", forwarded(Hierarchy::none, Claimed::unknown, "gone", kNot),
             "it was here lately; not held here, and only what is stored was asked for"},
        Told{"Failed", failed("timed-out"), "nobody could answer: it took too long"},
        Told{"Denied", denied("denied"), "refused; the settings forbid it"},
        Told{"Loop", denied("loop"), "refused; it has been through this proxy before"},
        Told{"NewWord", denied("some-word/x"), "refused; some-word/x"},
        Told{
            "ClientLeft", left_early(),
            "fetched from the origin; stored for 300 s; the client did not get the whole response"},
        Told{"Cut", cut(),
             "answered from memory; fresh for another 9 s; this proxy ended the connection: "
             "stalled"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::observe
