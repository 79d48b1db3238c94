// The state that all sources and writers of one fill share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/fetching/fetching.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

// The function that the fill's thread calls each time that the last reader has left the fill.
struct UnreadHook {
  std::function<void()> look;  // empty: nothing
  unsigned watches = 0;        // so far
};
// Makes the hook and sets it in the fill. Calls are posted, and may come when the fill's coroutine
// has ended; so they share the hook.
std::shared_ptr<UnreadHook> hooked(Fill& fill);

// Belongs to the fill's coroutine, which outlives every user.
struct FillContext {
  FetchAccess& access;
  const FillJob job;
  const std::shared_ptr<UnreadHook> unread = hooked(*job.fill);
  Inquiries inquiries = {};  // to all sources so far
  const std::shared_ptr<DiskPatience> patience = make_shared_in_frames<DiskPatience>(job.asked);

  [[nodiscard]] Cache& cache() const { return access.cache(); }
  [[nodiscard]] Fill& fill() const { return *job.fill; }
  [[nodiscard]] const Request& request() const { return job.request->get(); }
  [[nodiscard]] cache::Time now() const;

  // The attempt's answer, in the form that the store needs.
  [[nodiscard]] cache::Received received(const Attempt& attempt) const;
  // What its head says of storing and reuse.
  [[nodiscard]] http::CacheControl control_of(const Attempt& attempt) const;
  // The attempt's provenance, with all inquiries, the attempt's own included.
  [[nodiscard]] Provenance provenance(const Attempt& attempt) const;
  // Notes a question whose answer was of no use.
  void note_inquiry(const Attempt& attempt) { inquiries.add(attempt.inquiry()); }
  // Appends "word/about" to the words for Cache-Status.
  void remark(std::string_view word, std::string_view about);

  // The entry that memory has for the request now, or null.
  [[nodiscard]] cache::Ref<const cache::Entry> in_memory() const;
  // Stores the entry unless its URL was purged after `job.asked`. Returns whether it is stored.
  bool store(const cache::Ref<const cache::Entry>& entry,
             const cache::Ref<const cache::Entry>& superseded) const;
  // Why store() has not stored the entry; see why_not_kept().
  [[nodiscard]] cache::Storability why_not_stored(const cache::Entry& entry) const;
  // Counts one response as stored, or as not stored for this reason.
  void count(cache::Storability storability) const;
  // Erases the stored response, which the origin has shown to be outdated. An answer to one
  // client's credentials says nothing of a response stored for all, and erases nothing.
  void erase_stored() const;

  // Delists the fill: no request joins it any more.
  void leave_list() const;
  // Delists the fill because its response is for this request alone. For a while, no request waits
  // for another request's fill of this URL. If the job is for a part, or if the request's own
  // fields keep the response from being stored (`why`), only delists the fill.
  void leave_list_as_unshared(cache::Storability why) const;
};

// While this object exists, calls `look` on the fill's thread each time that the last reader has
// left the fill. By the time of the call there may be another reader. A later watch replaces an
// earlier one.
class UnreadWatch {
 public:
  UnreadWatch(const FillContext& context, std::function<void()> look);
  ~UnreadWatch();
  UnreadWatch(const UnreadWatch&) = delete;
  UnreadWatch& operator=(const UnreadWatch&) = delete;

 private:
  const std::shared_ptr<UnreadHook> hook_;
  const unsigned number_;
};

}  // namespace proxy
