// One stored response: one variant of a URL.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "digest/key.hpp"
#include "digest/rule.hpp"
#include "proxy/cache/body.hpp"
#include "proxy/cache/budget.hpp"
#include "proxy/cache/freshness.hpp"
#include "proxy/cache/head_quotes.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy::cache {

// A time of up to 136 years, in 4 bytes.
using ShortSeconds = std::chrono::duration<std::uint32_t>;

enum class SourceKind : std::uint8_t { origin, sibling, parent };

using disk::GiverTag;

// How long after its arrival a guest's response counts as fresh, whatever the response says.
inline constexpr std::chrono::seconds kGuestFresh = std::chrono::hours(1);

// The origin gave the response, or has confirmed it by a 304, unless there is a tag.
struct Giver {
  GiverTag tag = 0;    // of a neighbour (peers::Peer::tag)
  bool guest = false;  // the neighbour is a guest (config::Trust)

  bool operator==(const Giver&) const = default;
};

// Whether bytes of both may be joined into one response: it has only one giver. A guest's bytes are
// joined with no others, because a 304 about the others would confirm them, too.
constexpr bool may_join(const Giver& a, const Giver& b) {
  if (a.guest || b.guest) return false;
  return a.tag == 0 || b.tag == 0 || a.tag == b.tag;
}
// The giver of the joined response: the neighbour, if one of the two is a neighbour.
constexpr Giver giver_of_both(const Giver& a, const Giver& b) {
  return a.tag == 0 ? b : a;
}

// A response as received, with the request that it answered. Refers to text that the caller keeps.
struct Received {
  std::string_view url;         // canonical
  const http::Fields& request;  // fields of the client's request, by which Vary selects
  const http::ResponseHead& response;
  Times times;
  std::string_view our_name;  // for Via
  SourceKind source = SourceKind::origin;
  bool shared = true;          // whether neighbours may learn that we hold it
  http::Targets targets = {};  // fields that take precedence over Cache-Control (RFC 9213)
  FreshnessBounds bounds = {};
  std::optional<Object> object = {};  // set if it is kept in blocks: see object_entry()
  Giver giver = {};
  // The rule of the settings for the URL, as far as neighbours have to know it; 0: none.
  digest::RuleHash rule = 0;
  // Whether only the rule allows to store the response for all: it answers, or may answer, a
  // request with credentials (RFC 9111 3.5).
  bool by_rule_alone = false;
  // The result of response_cache_control(), if the caller knows it already.
  const http::CacheControl* control = nullptr;
  // Whether the response is only passed on, so that no store gets the entry. Such an entry has no
  // URL, matches every request, and is never fresh.
  bool passed_on = false;

  // Returns the message with another head.
  [[nodiscard]] Received with(const http::ResponseHead& head) const {
    return {url,     request, head,   times, our_name, source,       shared,
            targets, bounds,  object, giver, rule,     by_rule_alone};
  }
};

// The part of the representation that a response contains. Returns nothing unless the status is 206
// and there is exactly one Content-Range, well formed, for a single part.
std::optional<http::ContentRange> range_of(const http::ResponseHead& response);

// The lines that are only for the client that asked, and not part of an entry: fields that private
// and no-cache name, fields of an earlier proxy for its own client (RFC 9111 3.1), and its
// Cache-Status (RFC 9211 2). A CRLF after each.
std::string asker_fields(const Received& received);
std::string asker_fields(const http::Fields& response, const http::CacheControl& control);

// The longest URL of an entry.
inline constexpr std::size_t kLongestUrl = (std::size_t{1} << 24) - 1;

// The facts that only some responses have.
struct Extras {
  http::Variant variant = {};
  // The bytes that a 206 states; a shorter body contains the first of them (partial.hpp). Nothing:
  // the whole representation, or a 206 without a range, which is never stored.
  std::optional<http::ContentRange> range = {};
  // Set for a large object, whose body is stored elsewhere: `body` has only its length. object.hpp
  // also says what an object with a range is.
  std::optional<Object> object = {};
  ShortSeconds stale_while_revalidate{0};
  ShortSeconds stale_if_error{0};
  // The rule without which the response could not be reused as long, or at all; 0: none. The
  // settings may have changed since.
  digest::RuleHash rule = 0;
  bool by_rule_alone = false;  // as in Received
  // The end of its freshness as far as the response itself says, if a rule extends it.
  Time told_until = Time::max();

  [[nodiscard]] bool any() const {
    return variant.varies() || range || object || stale_while_revalidate.count() > 0 ||
           stale_if_error.count() > 0 || rule != 0 || by_rule_alone || told_until != Time::max();
  }
};

// The parts of an entry except its body. Both texts outlive the making of the entry.
struct Saved {
  std::string_view url;
  unsigned status = 0;
  std::string_view head;
  SourceKind source = SourceKind::origin;
  Giver giver = {};
  bool shared = true;
  bool no_cache = false;
  bool never_stale = false;
  Times times = {};
  std::chrono::milliseconds initial_age{0};
  Freshness freshness = {};
  // Of an entry read back from disk, `told_until` is the end of its claim to neighbours.
  Extras extras = {};
};

// Where the memory of an entry comes from, if not from the heap.
struct EntryMemory {
  void* (*take)(std::size_t bytes);
  void (*give_back)(void* memory, std::size_t bytes) noexcept;
};

// The facts about the reuse and the age of an entry, in 24 bytes, since each hit reads them.
class StoredFacts {
 protected:
  enum class Memory : std::uint8_t { heap, supplied };
  StoredFacts(const Saved& saved, Memory memory);

  const std::uint64_t initial_age_ : 42;  // ms: enough for 139 years
  const Freshness::Basis basis_ : 3;

 public:
  const unsigned status : 10;
  const SourceKind source : 2;
  const bool shared : 1;
  const bool no_cache : 1;  // RFC 9111 5.2.2.4; a no-cache that names fields does not count
  // must-revalidate, proxy-revalidate, s-maxage or no-cache (4.2.4), or a guest gave the response.
  const bool never_stale : 1;

 protected:
  const bool by_guest_ : 1;
  const bool has_memory_ : 1;  // behind the texts there is a pointer to its EntryMemory

  const ShortSeconds lifetime_;
  const std::uint32_t request_took_;  // ms
  const Time response_time_;

 public:
  // The time of the request is computed from that of the response: the entry stores only how many
  // milliseconds lay between them.
  Times times() const {
    return {response_time_ - std::chrono::milliseconds(request_took_), response_time_};
  }
  std::chrono::milliseconds initial_age() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(initial_age_));
  }
  Freshness freshness() const { return {basis_, lifetime_}; }
  // Fresh means: now < fresh_until(), and the entry is not from the future.
  Time fresh_until() const { return response_time_ + (lifetime_ - initial_age()); }

  // The value for the Age field: never negative.
  seconds age(Time now) const;
  // The remaining freshness lifetime; if 0 or negative, for how long it has been stale.
  seconds ttl(Time now) const { return lifetime_ - age(now); }
  bool fresh(Time now) const { return now < fresh_until(); }
  // Whether it may be served without validation to a client that asks for nothing fresher.
  bool reusable(Time now) const { return fresh(now) && !no_cache; }
};
static_assert(sizeof(StoredFacts) == 24);

// Immutable except for the body, which its fill sets once before the store receives the entry; from
// then on any thread may read everything. Everything else is valid from the start and may be read
// by any thread. Charged to its budget while it exists; the blocks of the body are charged
// separately.
//
// A cache has millions of entries (small_objects_check), so an entry is dense: the order and the
// types of its members leave no gaps, its texts lie behind it in the same allocation, and what only
// some responses have lies elsewhere.
struct Entry : StoredFacts, Counted<Entry>, private boost::noncopyable {
  // `memory`, if it is not null, supplies the memory, and outlives the entry.
  static Ref<Entry> make(Budget& budget, const Received& received,
                         const EntryMemory* memory = nullptr);
  // The saved entry must not be a part, except of an object.
  static Ref<Entry> make(Budget& budget, Saved saved);
  // Only make() leaves the room that an entry needs.
  static void* operator new(std::size_t bytes, std::size_t room, const EntryMemory* memory);
  static void operator delete(void* place, std::size_t room, const EntryMemory* memory);
  static void operator delete(Entry* entry, std::destroying_delete_t destroys);

 private:
  static Ref<Entry> make(Budget& budget, Saved& facts, const QuotePlaces& quotes,
                         const EntryMemory* memory);
  Entry(Budget& budget, Saved& facts, const QuotePlaces& quotes, const EntryMemory* memory);

  const std::uint32_t url_bytes_ : 24;
  const std::uint32_t giver_tag_ : 8;
  const std::uint32_t head_bytes_;
  const QuotePlaces quotes_;  // in head()
  const std::unique_ptr<const Extras> extras_;
  Budget& budget_;

 public:
  ~Entry();

  Body body;

  std::string_view url() const { return {text(), url_bytes_}; }
  // Status line and end-to-end fields, including our Via, a CRLF after each. The sender adds
  // Content-Length, Content-Range (from range()), Age, Cache-Status and the empty line.
  std::string_view head() const { return {text() + url_bytes_, head_bytes_}; }
  Giver giver() const { return {static_cast<GiverTag>(giver_tag_), by_guest_}; }
  // The value of Date, else the time of arrival. Searches the head.
  std::chrono::sys_seconds date() const;
  const Extras& extras() const { return extras_ ? *extras_ : kNoExtras; }
  const http::Variant& variant() const { return extras().variant; }
  const std::optional<http::ContentRange>& range() const { return extras().range; }
  const std::optional<Object>& object() const { return extras().object; }
  // Whether it has a range(), and whether it has an object(). Each hit asks.
  bool is_part() const { return extras_ && extras_->range; }
  bool is_object() const { return extras_ && extras_->object; }
  digest::RuleHash rule() const { return extras().rule; }
  bool by_rule_alone() const { return extras_ && extras_->by_rule_alone; }  // as in Received

  HeadQuotes quotes() const { return quotes_.in(head()); }
  // Whether the origin can be asked if it still has this response. A guest may have made up a
  // Last-Modified so late that every origin answers 304, so of a guest only an ETag counts.
  bool has_validator() const {
    const auto told = quotes();
    return !told.etag.empty() || (!told.last_modified.empty() && !by_guest_);
  }
  http::StoredValidators validators() const;

  // Whether a neighbour may have it. Set-Cookie never crosses between neighbours, and a guest's
  // response does not before the origin has confirmed it.
  bool for_neighbours() const { return !quotes_.sets_cookie() && !by_guest_; }
  // The time until which the entry answers a plain GET with only-if-cached by a 200 that every
  // neighbour may use. What a rule adds to the lifetime does not count, because neighbours without
  // the rule do not know of it. Time::min() if never. An object also needs all its blocks.
  Time claimable_until() const;
  // Until when neighbours that have the rule() may be told of the entry. Time::min() if there is no
  // rule.
  Time claimable_by_rule_until() const;
  // The time until which a part of at least kLeastClaimed bytes answers a range within it, for
  // every neighbour. Time::min() if it is no such part. Whether an object has such a part, its
  // blocks decide.
  Time claimable_in_part_until() const;
  // Whether the entry is fresh for a neighbour that does not have rule().
  bool fresh_without_rule(Time now) const { return rule() == 0 ? fresh(now) : now < told_until(); }

  // Whether the response is a 200 or a part of one: conditions and ranges apply to these.
  bool has_content() const { return status == 200 || is_part(); }

  Budget& budget() const { return budget_; }
  // The memory charged for it, including the body but not the blocks of an object.
  std::uint64_t footprint() const;

 private:
  static const Extras kNoExtras;

  // url() and head() lie here, one after the other.
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  // The end of its freshness without rules.
  Time told_until() const { return std::min(extras().told_until, fresh_until()); }
  bool may_cross() const;
  // The allocation, and all memory without the body.
  std::size_t allocated() const;
  std::uint64_t own_bytes() const;
};
static_assert(sizeof(Entry) == 88);

// The position of a stored response on disk. The store keeps it beside the entry, which is
// immutable. The code that writes the response to the disk, or reads it back, records the position
// here. Any thread.
class OnDisk : boost::noncopyable {
 public:
  // `asked`: when the response was asked for, if memory had it first.
  explicit OnDisk(std::chrono::steady_clock::time_point asked = {}) : asked_(asked) {}

  // `front`: the record that look-ups of the key find. `body`: the record that has the body, if it
  // is another one. As numbers (to_number() in disk/format.hpp); 0 until written.
  void set(const digest::Key& key, std::uint64_t front, std::uint64_t body) {
    offered_.store(true, std::memory_order_relaxed);
    key_ = key;
    body_.store(body, std::memory_order_relaxed);
    front_.store(front, std::memory_order_release);
  }
  std::uint64_t front() const { return front_.load(std::memory_order_acquire); }
  std::uint64_t body() const { return body_.load(std::memory_order_relaxed); }
  // Valid once front() is not 0.
  const digest::Key& key() const { return key_; }

  // Offers the response to the disk; returns whether it was offered before.
  bool offer() { return offered_.exchange(true, std::memory_order_relaxed); }
  // Records that the disk has not taken the entry.
  void withdraw() { offered_.store(false, std::memory_order_relaxed); }
  std::chrono::steady_clock::time_point asked() const { return asked_; }

 private:
  const std::chrono::steady_clock::time_point asked_;
  digest::Key key_{};
  std::atomic<bool> offered_ = false;
  std::atomic<std::uint64_t> front_ = 0;
  std::atomic<std::uint64_t> body_ = 0;
};

// The head of an entry, parsed again.
class ParsedHead : boost::noncopyable {
  std::string text_;

 public:
  explicit ParsedHead(const Entry& entry);

  http::ResponseHead head;  // views of text_
};

// A response as memory and disk keep it.
struct Kept {
  Ref<const Entry> entry;
  std::shared_ptr<OnDisk> on_disk = {};  // null: memory alone keeps it
};

// The result of a look-up.
struct Found {
  Ref<const Entry> entry;  // null: nothing stored answers this request
  bool varies = false;     // the URL is stored, but no variant matches
  bool lacks = false;  // an object without a block that the request needs; judge()'s caller sets it
  std::shared_ptr<OnDisk> on_disk = {};  // as in Kept
};

}  // namespace proxy::cache
