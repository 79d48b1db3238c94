#include "proxy/fetching/context.hpp"

#include <utility>

#include "proxy/http/cache_status.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy {

cache::Time FillContext::now() const {
  return access.clock().now();
}

cache::Received FillContext::received(const Attempt& attempt) const {
  return attempt.received(request(), fill().url());
}

http::CacheControl FillContext::control_of(const Attempt& attempt) const {
  return control_for(request(), attempt.head());
}

Provenance FillContext::provenance(const Attempt& attempt) const {
  auto from = attempt.provenance();
  from.inquiries = inquiries;
  if (!attempt.peer() && request().facts.control.no_cache) from.asked_past_caches = attempt.begun();
  if (inquiries.listed) from.inquiries.add(attempt.inquiry());
  return from;
}

void FillContext::remark(std::string_view word, std::string_view about) {
  http::add_detail(inquiries.detail, std::string(word).append("/").append(about));
}

cache::Ref<const cache::Entry> FillContext::in_memory() const {
  return cache().store.find(job.key, fill().url(), request().head.fields).entry;
}

bool FillContext::store(const cache::Ref<const cache::Entry>& entry,
                        const cache::Ref<const cache::Entry>& superseded) const {
  // What this fill has stored itself has no OnDisk here: keep() asks the store.
  const bool found = superseded == job.stored.entry;
  const auto old = found ? job.stored : cache::Kept{superseded};
  return keep(cache(), job.key, entry, job.asked, old);
}

cache::Storability FillContext::why_not_stored(const cache::Entry& entry) const {
  return why_not_kept(cache(), job.key, entry, job.asked);
}

void FillContext::count(cache::Storability storability) const {
  access.counters.count(storability);
}

void FillContext::erase_stored() const {
  if (!request().facts.authorization) drop(cache(), job.key, fill().url());
}

void FillContext::leave_list() const {
  cache().fills.leave(job.key, fill());
}

void FillContext::leave_list_as_unshared(cache::Storability why) const {
  if (job.how.part || why == cache::Storability::vary_too_long) return leave_list();
  cache().fills.leave_unshared(job.key, fill(), access.clock().steady());
}

std::shared_ptr<UnreadHook> hooked(Fill& fill) {
  auto hook = make_shared_in_frames<UnreadHook>();
  fill.on_abandoned(Fill::Hook(hook, &hook->look));
  return hook;
}

UnreadWatch::UnreadWatch(const FillContext& context, std::function<void()> look)
    : hook_(context.unread), number_(++hook_->watches) {
  hook_->look = std::move(look);
}

UnreadWatch::~UnreadWatch() {
  if (hook_->watches == number_) hook_->look = nullptr;
}

}  // namespace proxy
