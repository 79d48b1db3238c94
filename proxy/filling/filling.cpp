#include "proxy/filling/filling.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/detached.hpp>
#include <utility>

#include "proxy/filling/from_neighbours.hpp"
#include "proxy/filling/from_origin.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/sources/sampling.hpp"

namespace proxy {

using net::Task;

namespace {

// A refresh is for all clients, so it names no client's own tags.
std::string tags_to_name(const FillJob& job) {
  if (!job.held) return {};
  if (job.refresh) return std::string(job.held->etag);
  return http::joined_tags(job.held->etag, job.request->get().head.fields);
}

// The sources, in the order in which they are asked.
Task<void> fill_from_sources(FillContext& context) {
  const auto& job = context.job;
  if (job.ask_siblings) {
    const auto answered = co_await fill_from_neighbours(context);
    if (answered == Answered::yes) co_return;
    sample_false_miss(context.worker, job.key, context.request());
  }
  OriginQuestion question{job.how, job.held, job.range_override, tags_to_name(job)};
  co_await fill_from_origin(context, std::move(question));
}

Task<void> run_job(Worker& worker, FillJob job) {
  FillContext context{worker, std::move(job)};
  try {
    co_await fill_from_sources(context);
  } catch (const std::exception& bug) {
    spdlog::error("a fetch of {} failed inside this proxy: {}", context.fill().url(), bug.what());
    context.fill().fail({Failure::Where::us, Failure::What::overload, {}});
  }
  context.leave_list();
  if (context.job.refresh) context.process().fills.end_refresh(context.job.key);
}

}  // namespace

void start_filling(Worker& worker, FillJob job) {
  net::asio::co_spawn(worker.io.get_executor(), run_job(worker, std::move(job)),
                      net::asio::detached);
}

}  // namespace proxy
