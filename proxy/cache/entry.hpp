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

// A response as it arrived, and what it answered. Refers to text that the caller keeps.
struct Received {
  std::string_view url;         // canonical
  const http::Fields& request;  // those of the client's request: Vary selects by them
  const http::ResponseHead& response;
  Times times;
  std::string_view our_name;  // for Via
  SourceKind source = SourceKind::origin;
  bool shared = true;          // whether neighbours may know that we hold it
  http::Targets targets = {};  // fields that count before Cache-Control (RFC 9213)
  FreshnessBounds bounds = {};
  std::optional<Object> object = {};  // whether it is kept in blocks: see in_blocks.hpp

  // The same, had it come with that head.
  [[nodiscard]] Received with(const http::ResponseHead& head) const {
    return {url, request, head, times, our_name, source, shared, targets, bounds, object};
  }
};

// Which part of the representation a response is: nothing for another status than 206, where there
// is not exactly one Content-Range, where that is malformed, and for several parts in one.
std::optional<http::ContentRange> range_of(const http::ResponseHead& response);

// What Date says, else when it arrived.
std::chrono::sys_seconds date_of(const http::Fields& response, const Times& times);

// The lines that are for who asked alone and not part of an entry: those that private and no-cache
// name, and what a proxy on the way says to its client (RFC 9111 3.1) or of how it came by the
// response (RFC 9211 2). A CRLF after each.
std::string asker_fields(const Received& received);

// All of an entry but its body, as it was when it was stored: see saved_head.hpp.
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
  std::optional<http::ContentRange> range = {};  // of an object alone
};

// Where the disk has an entry: told by who writes it there, or has read it. Any thread.
class OnDisk {
 public:
  // Of the record that it is found by under the key, and of the one that has the body, if that is
  // another; as numbers, 0 until it is there (disk/format.hpp, to_number).
  void set(const disk::Key& key, std::uint64_t front, std::uint64_t body) const {
    offered_.store(true, std::memory_order_relaxed);
    key_ = key;
    body_.store(body, std::memory_order_relaxed);
    front_.store(front, std::memory_order_release);
  }
  std::uint64_t front() const { return front_.load(std::memory_order_acquire); }
  std::uint64_t body() const { return body_.load(std::memory_order_relaxed); }
  // Whether it was offered to the disk; who offers it says so, or takes it back.
  bool offer(bool is = true) const { return offered_.exchange(is, std::memory_order_relaxed); }
  // When was asked for what memory alone has: told before others see the entry.
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

// Nothing in it changes but the body, which its fill sets once, before the store gets the entry:
// from then on any thread may read all of it. The head part is valid, and readable from any thread,
// from the start. Charged to its budget for its lifetime, the body's blocks by themselves.
struct Entry {
  Entry(Budget& budget, const Received& received);
  // No part, but of an object.
  Entry(Budget& budget, Saved saved);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  const std::string url;
  const unsigned status;
  // Of a 206: the bytes that it says it has. Its body, if shorter, has the first of them: see
  // partial.hpp. None: the whole, or a 206 that does not say and is never stored.
  const std::optional<http::ContentRange> range;
  // A large one, whose body is elsewhere: `body` has its length alone. See object.hpp, also for
  // what it is with a range.
  const std::optional<Object> object;
  // Status line and end-to-end fields, a CRLF after each, our Via among them. The sender adds
  // Content-Length, Content-Range (of `range`), Age, Cache-Status and the empty line.
  const std::string head;
  const http::Variant variant;
  const SourceKind source;
  const bool shared;

  // RFC 9111 5.2.2, as far as reuse asks for it. Fields that no-cache or private names are not
  // here.
  const bool no_cache;
  const bool never_stale;  // must-revalidate, proxy-revalidate, s-maxage or no-cache (4.2.4)
  const seconds stale_while_revalidate;
  const seconds stale_if_error;

  // Views into `head`; empty: none, or several that differ.
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

  // Age as the Age field says it: never negative.
  seconds age(Time now) const;
  // Freshness left; 0 or less when stale, and then how long it has been so, negated.
  seconds ttl(Time now) const { return freshness.lifetime - age(now); }
  bool fresh(Time now) const { return now < fresh_until; }
  // Answers, without being validated, whoever asks for nothing fresher.
  bool reusable(Time now) const { return fresh(now) && !no_cache; }

  bool has_validator() const { return !etag.empty() || !last_modified.empty(); }
  http::StoredValidators validators() const;

  // Until when it answers a plain only-if-cached GET with 200, and who asked may use it: where the
  // settings make it fresh for longer (FreshnessBounds), neighbours know nothing of that.
  // Time::min() if it never does. An object does so only while all its blocks are held.
  Time claimable_until() const;

  // A 200 or a part of one: what conditions and ranges are about.
  bool has_content() const { return status == 200 || range; }

  // What it takes of the budget, body included, but no blocks of an object.
  std::uint64_t footprint() const;

 private:
  Entry(Budget& budget, const Received& received, const http::CacheControl& control);
  Time as_told_until(const Received& received, const http::CacheControl& control) const;

  const Time claimed_until_;
  const Charge charge_;
};

// What a look-up found.
struct Found {
  std::shared_ptr<const Entry> entry;  // null: nothing that answers this request
  bool varies = false;                 // the URL is held, but in no variant that matches
  bool gone = false;   // it is not, but was claimed lately (StoreLimits::remembered)
  bool lacks = false;  // a large object without a block that is wanted: who judges finds it out
};

}  // namespace proxy::cache
