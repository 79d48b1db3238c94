// One stored response: one variant of a URL.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "digest/rule.hpp"
#include "proxy/cache/block.hpp"
#include "proxy/cache/boxed.hpp"
#include "proxy/cache/budget.hpp"
#include "proxy/cache/departures.hpp"
#include "proxy/cache/freshness.hpp"
#include "proxy/cache/giver.hpp"
#include "proxy/cache/head_quotes.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/cache/with_room.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy::cache {

class OnDisk;

// Up to 136 years, in 4 bytes.
using ShortSeconds = std::chrono::duration<std::uint32_t>;

enum class SourceKind : std::uint8_t { origin, sibling, parent };

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
  std::optional<Object> object = {};  // set if it is kept in blocks: see in_blocks.hpp
  Giver giver = {};
  // The rule of the settings for the URL, as far as neighbours have to know it; 0: none.
  digest::RuleHash rule = 0;
  // Without the rule it could not be stored for all, because it answers, or may answer, a request
  // with credentials (RFC 9111 3.5).
  bool by_rule_alone = false;
  // What response_cache_control() reads from it, if the caller knows it already.
  const http::CacheControl* control = nullptr;
  // The response is passed on, and no store gets the entry. It then has no URL, matches every
  // request, and is never fresh.
  bool passed_on = false;

  // The same message with another head.
  [[nodiscard]] Received with(const http::ResponseHead& head) const {
    return {url,     request, head,   times, our_name, source,       shared,
            targets, bounds,  object, giver, rule,     by_rule_alone};
  }
};

// The part of the representation that a response contains. Returns nothing unless the status is 206
// and there is exactly one Content-Range, well formed, for a single part.
std::optional<http::ContentRange> range_of(const http::ResponseHead& response);

// The value of Date, else the time of arrival. The second form takes the value; empty: there is
// none.
std::chrono::sys_seconds date_of(const http::Fields& response, const Times& times);
std::chrono::sys_seconds date_of(std::string_view date, const Times& times);

// The lines that are only for the client that asked, and not part of an entry: fields that private
// and no-cache name, fields of an earlier proxy for its own client (RFC 9111 3.1), and its
// Cache-Status (RFC 9211 2). A CRLF after each.
std::string asker_fields(const Received& received);
std::string asker_fields(const http::Fields& response, const http::CacheControl& control);

// All of an entry except its body, as it was stored. It has 20 members, one for each fact that a
// record on disk states (saved_head.hpp).
struct Saved {
  std::string_view url;  // both texts outlive the making of the entry
  unsigned status = 0;
  std::string_view head;
  http::Variant variant = {};
  SourceKind source = SourceKind::origin;
  Giver giver = {};
  bool shared = true;
  bool no_cache = false;
  bool never_stale = false;
  seconds stale_while_revalidate{0};
  seconds stale_if_error{0};
  Times times = {};
  std::chrono::sys_seconds date{};
  std::chrono::milliseconds initial_age{0};
  Freshness freshness = {};
  Time claimable_until = Time::min();
  digest::RuleHash rule = 0;
  bool by_rule_alone = false;
  std::optional<Object> object = {};
  std::optional<http::ContentRange> range = {};  // only of an object
};

// A lifetime in 8 bytes. 2^32 seconds are more than http::kForever.
struct KeptFreshness {
  explicit KeptFreshness(const Freshness& freshness)
      : lifetime(std::min(freshness.lifetime, http::kForever)), basis(freshness.basis) {}
  operator Freshness() const { return {basis, lifetime}; }

  const ShortSeconds lifetime;
  const Freshness::Basis basis;
};

// What an entry needs of a received response before there is an entry. Refers to what `received`
// refers to.
struct Judged {
  explicit Judged(const Received& received);
  Judged(const Judged&) = delete;
  Judged& operator=(const Judged&) = delete;

 private:
  const std::optional<http::CacheControl> own_control_;

 public:
  const http::CacheControl& control;
  const std::string_view url;
  QuotePlaces quotes;
  const std::string head;  // of Entry
};

// Immutable except for the body, which its fill sets once before the store receives the entry; from
// then on any thread may read everything. Everything else is valid from the start and may be read
// by any thread. Charged to its budget while it exists; the blocks of the body are charged
// separately. It has 24 members, one per fact about the response: nearly every reader needs single
// facts, and groups would only make their names longer. Their order and types leave no gaps, and
// their texts lie behind them in the same allocation: a cache has millions of entries
// (small_objects_check).
struct Entry {
  // `Memory` supplies the memory.
  template <template <class> class Memory = std::allocator>
  static std::shared_ptr<Entry> make(Budget& budget, const Received& received) {
    const Judged judged(received);
    const WithRoom<Entry, Memory> memory(judged.url.size() + judged.head.size());
    return std::allocate_shared<Entry>(memory, InRoom(), budget, received, judged);
  }
  // The saved entry must not be a part, except of an object.
  static std::shared_ptr<Entry> make(Budget& budget, Saved saved);

 private:
  // Only make() leaves the room that the constructors need.
  class InRoom {
    friend struct Entry;
    InRoom() = default;
  };

 public:
  Entry(InRoom, Budget& budget, const Received& received, const Judged& judged);
  Entry(InRoom, Budget& budget, Saved saved);
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  const std::string_view url;
  // Status line and end-to-end fields, including our Via, a CRLF after each. The sender adds
  // Content-Length, Content-Range (from `range`), Age, Cache-Status and the empty line.
  const std::string_view head;
  const std::uint16_t status;
  const SourceKind source;
  const Giver giver;
  const bool shared;
  const bool by_rule_alone;  // as in Received

  // The directives of RFC 9111 5.2.2 that matter for reuse. Fields named by no-cache or private are
  // not here.
  const bool no_cache;
  // must-revalidate, proxy-revalidate, s-maxage or no-cache (4.2.4), or a guest gave the response.
  const bool never_stale;

 private:
  const QuotePlaces quotes_;  // in `head`

 public:
  const ShortSeconds stale_while_revalidate;
  const ShortSeconds stale_if_error;
  const KeptFreshness freshness;

  // For a 206, the bytes that it states; a shorter body contains the first of them (partial.hpp).
  // Nothing: the whole representation, or a 206 without a range, which is never stored.
  const Boxed<http::ContentRange> range;
  // Set for a large object, whose body is stored elsewhere: `body` has only its length. object.hpp
  // also says what an object with a range is.
  const Boxed<Object> object;
  const http::Variant variant;

  const Times times;
  const std::chrono::sys_seconds date;  // date_of()
  const std::chrono::milliseconds initial_age;

 private:
  Budget& budget_;
  const Time claimed_until_;  // see claimable_until(); here, because `rule` is initialized from it

 public:
  // The rule without which the response could not be reused as long, or at all; 0: none. The
  // settings may have changed since.
  const digest::RuleHash rule;

  Body body;

  HeadQuotes quotes() const { return quotes_.in(head); }
  // Fresh means: now < fresh_until().
  Time fresh_until() const { return times.response + (freshness.lifetime - initial_age); }

  // The value for the Age field: never negative.
  seconds age(Time now) const;
  // The remaining freshness lifetime; if 0 or negative, for how long it has been stale.
  seconds ttl(Time now) const { return freshness.lifetime - age(now); }
  bool fresh(Time now) const { return now < fresh_until(); }
  // Whether it may be served without validation to a client that asks for nothing fresher.
  bool reusable(Time now) const { return fresh(now) && !no_cache; }

  // Whether the origin can be asked if it still has this response. A guest may have made up a
  // Last-Modified so late that every origin answers 304, so of a guest only an ETag counts.
  bool has_validator() const {
    const auto told = quotes();
    return !told.etag.empty() || (!told.last_modified.empty() && !giver.guest);
  }
  http::StoredValidators validators() const;

  // Whether a neighbour may have it. Set-Cookie never crosses between neighbours, and a guest's
  // response does not before the origin has confirmed it.
  bool for_neighbours() const { return !quotes_.sets_cookie() && !giver.guest; }
  // The time until which the entry answers a plain GET with only-if-cached by a 200 that every
  // neighbour may use. What a rule adds to the lifetime does not count, because neighbours without
  // the rule do not know of it. Time::min() if never. An object also needs all its blocks.
  Time claimable_until() const;
  // Likewise for the neighbours that have `rule`. Time::min() if there is none.
  Time claimable_by_rule_until() const;
  // Whether it is fresh for those who do not have `rule`.
  bool fresh_without_rule(Time now) const {
    return rule == 0 ? fresh(now) : now < std::min(claimed_until_, fresh_until());
  }

  // A 200 or a part of one: conditions and ranges apply to these.
  bool has_content() const { return status == 200 || range; }

  Budget& budget() const { return budget_; }
  // The memory charged for it, including the body but not the blocks of an object.
  std::uint64_t footprint() const;

 private:
  // Copies the text to `offset` bytes behind the entry.
  std::string_view kept_at(std::size_t offset, std::string_view text);
  Time as_told_until(const Received& received, const http::CacheControl& control) const;
  bool answers_neighbours() const;
  // The memory without the body.
  std::uint64_t own_bytes() const;
};

// A response as memory and disk keep it.
struct Kept {
  std::shared_ptr<const Entry> entry;
  std::shared_ptr<OnDisk> on_disk = {};  // null: memory alone keeps it
};

// The result of a look-up.
struct Found {
  std::shared_ptr<const Entry> entry;  // null: nothing stored answers this request
  bool varies = false;                 // the URL is stored, but no variant matches
  Departed departed = {};              // if it is not stored: see StoreLimits::remembered
  bool lacks = false;  // an object without a block that the request needs; judge()'s caller sets it
  std::shared_ptr<OnDisk> on_disk = {};  // as in Kept
};

}  // namespace proxy::cache
