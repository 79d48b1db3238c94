// The state that all sources and writers of one fill share, and an answer on its way to a writer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/fetching/fetching.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy::fetching {

// The function that the fill's thread calls each time that the last reader has left the fill.
struct UnreadHook {
  std::function<void()> look;  // empty: nothing
  unsigned watches = 0;        // so far
};
// Makes the hook and sets it in the fill. Calls are posted, and may come when the fill's coroutine
// has ended; so they share the hook.
inline std::shared_ptr<UnreadHook> hooked(fill::Fill& fill) {
  auto hook = net::make_shared_in_frames<UnreadHook>();
  fill.on_abandoned(fill::Fill::Hook(hook, &hook->look));
  return hook;
}

// Belongs to the fill's coroutine, which outlives every user.
struct FillContext {
  blocks::FetchAccess& access;
  const FillJob job;
  const std::shared_ptr<UnreadHook> unread = hooked(*job.fill);
  observe::Inquiries inquiries = {};  // to all sources so far
  const std::shared_ptr<tiers::DiskPatience> patience =
      net::make_shared_in_frames<tiers::DiskPatience>(job.asked);

  [[nodiscard]] tiers::Cache& cache() const { return access.cache(); }
  [[nodiscard]] fill::Fill& fill() const { return *job.fill; }
  [[nodiscard]] const policy::Request& request() const { return job.request->get(); }
  [[nodiscard]] cache::Time now() const { return access.clock().now(); }

  // The attempt's answer, in the form that the store needs.
  [[nodiscard]] cache::Received received(const sources::Attempt& attempt) const {
    return attempt.received(request(), fill().url());
  }
  // The directives in the head of the answer about storing and reuse.
  [[nodiscard]] http::CacheControl control_of(const sources::Attempt& attempt) const {
    return sources::control_for(request(), attempt.head());
  }
  // The attempt's provenance, with all inquiries, the attempt's own included.
  [[nodiscard]] fill::Provenance provenance(const sources::Attempt& attempt) const;
  // Records a question whose answer was of no use.
  void record_inquiry(const sources::Attempt& attempt) { inquiries.add(attempt.inquiry()); }
  // Appends "word/about" to the words for Cache-Status.
  void remark(std::string_view word, std::string_view about) {
    http::add_detail(inquiries.detail, std::string(word).append("/").append(about));
  }

  // The entry that memory has for the request now, or null.
  [[nodiscard]] cache::Ref<const cache::Entry> in_memory() const {
    return cache().in_memory(job.key, fill().url(), request().head.fields).entry;
  }
  // Stores the entry unless its URL was purged after `job.asked`. Returns whether it is stored.
  bool store(const cache::Ref<const cache::Entry>& entry,
             const cache::Ref<const cache::Entry>& superseded) const;
  // Why store() has not stored the entry; see why_not_kept().
  [[nodiscard]] cache::Storability why_not_stored(const cache::Entry& entry) const {
    return cache().why_not_kept(job.key, entry, job.asked);
  }
  // Counts one response as stored, or as not stored for this reason.
  void count(cache::Storability storability) const { access.counters.count(storability); }
  // Erases the stored response, which the origin has shown to be outdated. An answer to one
  // client's credentials says nothing of a response stored for all, and erases nothing.
  void erase_stored() const {
    if (!request().facts.authorization) cache().drop(job.key, fill().url());
  }

  // Publishes the head. Records whether the site's neighbours may have the answer.
  void publish(fill::FillHead head, fill::Fill::Keeps keeps = fill::Fill::Keeps::all) const;

  // Delists the fill: no request joins it any more.
  void leave_list() const { cache().fills.leave(job.key, fill()); }
  // Delists the fill because its response is for this request alone. For a while, no request waits
  // for another request's fill of this URL. Unless the answer tells_of_sharing() (`why`: it is not
  // stored), only delists the fill.
  void delist_as_unshared(cache::Storability why) const;
};

// While this object exists, calls `look` on the fill's thread each time that the last reader has
// left the fill. By the time of the call there may be another reader. A later watch replaces an
// earlier one.
class UnreadWatch {
 public:
  UnreadWatch(const FillContext& context, std::function<void()> look)
      : hook_(context.unread), number_(++hook_->watches) {
    hook_->look = std::move(look);
  }
  // Abandons `asked`, an attempt or a search, once nobody reads the fill.
  template <class Asked>
  UnreadWatch(const FillContext& context, Asked& asked)
      : UnreadWatch(context, [&fill = context.fill(), &asked] {
          if (fill.close_if_unread()) asked.abandon();
        }) {}
  ~UnreadWatch() {
    if (hook_->watches == number_) hook_->look = nullptr;
  }
  UnreadWatch(const UnreadWatch&) = delete;
  UnreadWatch& operator=(const UnreadWatch&) = delete;

 private:
  const std::shared_ptr<UnreadHook> hook_;
  const unsigned number_;
};

// A source's answer, judged, for its writer.
struct Incoming {
  sources::Attempt attempt;
  cache::Ref<cache::Entry> entry;       // made from the head; its body is still empty
  std::optional<std::uint64_t> length;  // of the fill's body, if known
  // Whether RFC 9111 lets the response be stored, or why not.
  cache::Storability storability = cache::Storability::yes;
  cache::Ref<const cache::Entry> superseded;  // the stored entry that this replaces; or null
  // Whether the response stays with the neighbour alone, which is near: see is_left_there().
  bool left_there = false;
  bool goes_on = false;           // the source's body continues after the last byte for the client
  std::string asker_fields = {};  // of the head: see cache/entry.hpp

  [[nodiscard]] bool may_be_stored() const { return storability == cache::Storability::yes; }
};

// Makes an entry of the source's answer, which is neither cut nor joined. `control` is what
// context.control_of() reads from the answer.
inline Incoming incoming_of(const FillContext& context, sources::Attempt attempt,
                            const http::CacheControl& control, cache::Storability storability,
                            cache::Ref<const cache::Entry> superseded) {
  auto received = context.received(attempt);
  received.control = &control;
  auto& budget = context.cache().budget;
  // What a neighbour gives is judged by its lifetime, too: see objection().
  received.passed_on = storability != cache::Storability::yes && !attempt.peer();
  static constexpr cache::EntryMemory kFrames{net::FrameMemory::take, net::FrameMemory::give_back};
  auto entry = cache::Entry::make(budget, received, received.passed_on ? &kFrames : nullptr);
  Incoming incoming{std::move(attempt), std::move(entry), {}, storability, std::move(superseded)};
  incoming.length = incoming.attempt.length();
  incoming.asker_fields = cache::asker_fields(incoming.attempt.head().fields, control);
  return incoming;
}

}  // namespace proxy::fetching
