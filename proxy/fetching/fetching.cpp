#include "proxy/fetching/fetching.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/fetching/from_neighbours.hpp"
#include "proxy/fetching/from_origin.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/sampling.hpp"

namespace proxy {

using net::Task;

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

Task<void> run_job(Worker& worker, FillJob taken, std::optional<Attempt> begun) {
  FillContext context{worker, std::move(taken)};
  context.inquiries.listed = context.request().policy().lists_inquiries();
  const auto& job = context.job;
  try {
    auto question = first_question(job);
    const bool chooses = !begun && (job.ask_siblings || route_of(context.request()).has_choice());
    std::optional<LeftForOrigin> left(LeftForOrigin{std::move(begun)});
    if (chooses) {
      left = co_await fill_from_neighbours(context, question);
      if (left && job.ask_siblings) sample_false_miss(worker.sources, job.key, context.request());
    }
    if (left) co_await fill_from_origin(context, std::move(question), std::move(left->asked));
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", context.fill().url(), bug.what());
    context.fill().fail({Failure::Where::us, Failure::What::overload, {}});
  }
  context.leave_list();
  if (job.refresh) context.process().fills.end_refresh(job.key);
}

}  // namespace

void start_fetching(Worker& worker, FillJob job, std::optional<Attempt> begun) {
  net::spawn(worker.io.get_executor(), run_job(worker, std::move(job), std::move(begun)));
}

}  // namespace proxy
