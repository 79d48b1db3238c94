#include "proxy/fetching/fetching.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/fetching/from_neighbours.hpp"
#include "proxy/fetching/from_origin.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/checking.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy::fetching {

using net::Task;

fill::Provenance FillContext::provenance(const sources::Attempt& attempt) const {
  auto from = attempt.provenance();
  from.inquiries = inquiries;
  if (!attempt.peer() && request().facts.control.no_cache) from.asked_past_caches = attempt.begun();
  if (inquiries.listed) from.inquiries.add(attempt.inquiry());
  return from;
}

bool FillContext::store(const cache::Ref<const cache::Entry>& entry,
                        const cache::Ref<const cache::Entry>& superseded) const {
  // What this fill has stored itself has no OnDisk here: keep() asks the store.
  const bool found = superseded == job.stored.entry;
  const auto old = found ? job.stored : cache::Kept{superseded};
  return cache().store(job.key, entry, job.asked, old);
}

bool tells_of_sharing(const cache::Verdict& how, cache::Storability why) {
  return !how.part && why != cache::Storability::vary_too_long;
}

void FillContext::delist_as_unshared(cache::Storability why) const {
  if (!tells_of_sharing(job.how, why)) return leave_list();
  cache().fills.leave_unshared(job.key, fill(), access.clock().steady());
}

// While a URL is known to be unshared (Fills::kNotShared), its answers do not count: one URL that
// is asked for all the time says little of the others. An error says nothing of what the origin
// mostly gives.
void FillContext::publish(fill::FillHead head, fill::Fill::Keeps keeps) const {
  using Answer = fill::UnsharedPaths::Answer;
  const bool tells = tells_of_sharing(job.how, head.provenance.storability);
  if (access.sources.has_neighbours && job.allowed.share && tells && head.entry->status < 500) {
    const bool shared = head.shareable && head.entry->for_neighbours();
    access.sources.shared.unshared_paths.record(
        fill().url(), shared ? Answer::shared : Answer::unshared, access.clock().steady());
  }
  fill().publish(std::move(head), keeps);
}

namespace {

// A refresh is for all clients, so it names no client's own tags.
std::string tags_to_name(const FillJob& job) {
  const auto& stored = job.stored.entry;
  if (!stored) return {};
  if (job.refresh) return std::string(stored->quotes().etag);
  return http::joined_tags(stored->quotes().etag, job.request->get().head.fields);
}

OriginQuestion first_question(const FillJob& job) {
  return {job.how, job.stored.entry, job.range_override, tags_to_name(job), job.range};
}

Task<void> run_job(blocks::FetchAccess& access, FillJob taken,
                   std::optional<sources::Attempt> begun) {
  FillContext context{access, std::move(taken)};
  context.inquiries.listed = context.request().policy().lists_inquiries();
  const auto& job = context.job;
  try {
    auto question = first_question(job);
    const bool chooses =
        !begun && (job.allowed.neighbours() || sources::route_of(context.request()).has_choice());
    std::optional<LeftForOrigin> left(LeftForOrigin{std::move(begun)});
    if (chooses) {
      left = co_await fill_from_neighbours(context, question);
      if (left && job.allowed.neighbours())
        sources::sample_false_miss(access.sources, job.key, context.request());
    }
    if (left) co_await fill_from_origin(context, std::move(question), std::move(left->asked));
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", context.fill().url(), bug.what());
    context.fill().fail({upstream::Failure::Where::us, upstream::Failure::What::overload, {}});
  }
  context.leave_list();
  if (job.refresh) context.cache().fills.end_refresh(job.key);
}

}  // namespace

void start_fetching(blocks::FetchAccess& access, FillJob job,
                    std::optional<sources::Attempt> begun) {
  net::spawn(access.executor(), run_job(access, std::move(job), std::move(begun)));
}

}  // namespace proxy::fetching
