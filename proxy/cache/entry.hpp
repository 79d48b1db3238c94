// One stored response: one variant of a URL.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/cache/block.hpp"
#include "proxy/cache/budget.hpp"
#include "proxy/cache/freshness.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy::cache {

enum class SourceKind : std::uint8_t { origin, sibling, parent };

// A response as received, with the request that it answered. Refers to text that the caller keeps.
struct Received {
  std::string_view url;         // canonical
  const http::Fields& request;  // of the client's request, since Vary selects by them
  const http::ResponseHead& response;
  Times times;
  std::string_view our_name;  // for Via
  SourceKind source = SourceKind::origin;
  bool shared = true;          // whether neighbours may learn that we hold it
  http::Targets targets = {};  // fields that take precedence over Cache-Control (RFC 9213)
  FreshnessBounds bounds = {};
  std::optional<Object> object = {};  // set if it is kept in blocks: see in_blocks.hpp

  // The same message with another head.
  [[nodiscard]] Received with(const http::ResponseHead& head) const {
    return {url, request, head, times, our_name, source, shared, targets, bounds, object};
  }
};

// The part of the representation that a response contains. Returns nothing unless the status is 206
// and there is exactly one Content-Range, well formed, for a single part.
std::optional<http::ContentRange> range_of(const http::ResponseHead& response);

// The value of Date, else the time of arrival.
std::chrono::sys_seconds date_of(const http::Fields& response, const Times& times);

// The lines that are only for the client that asked and not part of an entry: those that private
// and no-cache name, what an earlier proxy says to its client (RFC 9111 3.1), and how that proxy
// obtained the response (RFC 9211 2). A CRLF after each.
std::string asker_fields(const Received& received);

// All of an entry except its body, as it was stored: see saved_head.hpp.
struct Saved {
  std::string url;
  unsigned status = 0;
  std::string head;
  http::Variant variant = {};
  SourceKind source = SourceKind::origin;
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
  std::optional<Object> object = {};
  std::optional<http::ContentRange> range = {};  // only of an object
};

// Where the disk has an entry: set by the code that writes it there, or has read it. Any thread.
class OnDisk {
 public:
  // `front`: the record that look-ups of the key find. `body`: the record that has the body, if it
  // is another one. As numbers (to_number() in disk/format/format.hpp); 0 until written.
  void set(const disk::Key& key, std::uint64_t front, std::uint64_t body) const {
    offered_.store(true, std::memory_order_relaxed);
    key_ = key;
    body_.store(body, std::memory_order_relaxed);
    front_.store(front, std::memory_order_release);
  }
  std::uint64_t front() const { return front_.load(std::memory_order_acquire); }
  std::uint64_t body() const { return body_.load(std::memory_order_relaxed); }
  // Sets whether the entry is offered to the disk; returns whether it was before.
  bool offer(bool is = true) const { return offered_.exchange(is, std::memory_order_relaxed); }
  // When the response was asked for, if memory alone has it. Set before other threads see the
  // entry.
  void note_asked(std::chrono::steady_clock::time_point asked) const { asked_ = asked; }
  std::chrono::steady_clock::time_point asked() const { return asked_; }
  // Once front() is not 0.
  const disk::Key& key() const { return key_; }

 private:
  mutable disk::Key key_{};
  mutable std::chrono::steady_clock::time_point asked_{};
  mutable std::atomic<bool> offered_ = false;
  mutable std::atomic<std::uint64_t> front_ = 0;
  mutable std::atomic<std::uint64_t> body_ = 0;
};

// Immutable except for the body, which its fill sets once before the store receives the entry; from
// then on any thread may read everything. Everything else is valid from the start and may be read
// by any thread. Charged to its budget while it exists; the blocks of the body are charged
// separately.
struct Entry {
  Entry(Budget& budget, const Received& received);
  // The saved entry must not be a part, except of an object.
  Entry(Budget& budget, Saved saved);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  const std::string url;
  const unsigned status;
  // For a 206 the bytes that it states; a shorter body has the first of them (partial.hpp).
  // Nothing: the whole representation, or a 206 that does not say and is never stored.
  const std::optional<http::ContentRange> range;
  // Set for a large object, whose body is stored elsewhere: `body` has only its length. object.hpp
  // also says what an object with a range is.
  const std::optional<Object> object;
  // Status line and end-to-end fields, including our Via, a CRLF after each. The sender adds
  // Content-Length, Content-Range (from `range`), Age, Cache-Status and the empty line.
  const std::string head;
  const http::Variant variant;
  const SourceKind source;
  const bool shared;

  // The directives of RFC 9111 5.2.2 that matter for reuse. Fields named by no-cache or private are
  // not here.
  const bool no_cache;
  const bool never_stale;  // must-revalidate, proxy-revalidate, s-maxage or no-cache (4.2.4)
  const seconds stale_while_revalidate;
  const seconds stale_if_error;

  // Views into `head`; empty if there is none, or several that differ.
  const std::string_view etag;
  const std::string_view last_modified;
  const std::string_view content_type;

  const Times times;
  const std::chrono::sys_seconds date;  // date_of()
  const std::chrono::milliseconds initial_age;
  const Freshness freshness;
  const Time fresh_until;  // fresh means: now < fresh_until

  Body body;
  const OnDisk on_disk;

  // The value for the Age field: never negative.
  seconds age(Time now) const;
  // The remaining freshness lifetime; if 0 or negative, for how long it has been stale.
  seconds ttl(Time now) const { return freshness.lifetime - age(now); }
  bool fresh(Time now) const { return now < fresh_until; }
  // Whether it may be served without validation to a client that asks for nothing fresher.
  bool reusable(Time now) const { return fresh(now) && !no_cache; }

  bool has_validator() const { return !etag.empty() || !last_modified.empty(); }
  http::StoredValidators validators() const;

  // Until when it answers a plain GET with only-if-cached by 200 and a neighbour may use the
  // response: a longer lifetime from the settings (FreshnessBounds) does not count, as neighbours
  // do not know of it. Time::min() if never. An object also needs all its blocks.
  Time claimable_until() const;

  // A 200 or a part of one: conditions and ranges apply to these.
  bool has_content() const { return status == 200 || range; }

  // The memory charged for it, including the body but not the blocks of an object.
  std::uint64_t footprint() const;

 private:
  Entry(Budget& budget, const Received& received, const http::CacheControl& control);
  Time as_told_until(const Received& received, const http::CacheControl& control) const;

  const Time claimed_until_;
  const Charge charge_;
};

// The result of a look-up.
struct Found {
  std::shared_ptr<const Entry> entry;  // null: nothing stored answers this request
  bool varies = false;                 // the URL is stored, but no variant matches
  bool gone = false;                   // not stored, but claimed recently (StoreLimits::remembered)
  bool lacks = false;  // an object without a block that the request needs; judge()'s caller sets it
};

}  // namespace proxy::cache
