#include "proxy/fetching/rest_of_body.hpp"

#include <utility>

#include "proxy/cache/partial.hpp"
#include "proxy/sources/claimant_search.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy {

using net::Task;

namespace {

bool may_be_joined(const cache::Entry& entry) {
  return !entry.range && !entry.giver.guest && !cache::strong_validator(entry).empty();
}

Attempt rest_at_origin(const FillContext& context, const cache::Entry& entry) {
  const auto& request = context.request();
  auto head = rest_request(request, context.process().name, entry, context.fill().received());
  return {context.worker, origin_plan(request, std::move(*head))};
}

// The next source that answers; nothing if none is left.
Task<std::optional<Attempt>> next_source(ClaimantSearch& search, bool& origin_is_left,
                                         const std::function<Attempt()>& at_origin) {
  auto answer = co_await search.next();
  if (answer && !answer->peer()) origin_is_left = false;
  if (answer || !origin_is_left) co_return answer;
  origin_is_left = false;
  answer = at_origin();
  co_await answer->ask();
  co_return answer;
}

}  // namespace

Task<Outcome<void>> write_rest(FillContext& context, BodyWriter& writer, Failure cut,
                               RestFrom sources) {
  const auto& request = context.request();
  const auto entry = writer.entry();
  if (!may_be_joined(*entry)) co_return cut;
  const std::function<Attempt()> at_origin = [&] { return rest_at_origin(context, *entry); };
  const PartAsked rest{{context.fill().received(), std::nullopt}, cache::strong_validator(*entry)};
  bool origin_is_left = sources == RestFrom::neighbours_and_origin;
  ClaimantSearch::For wanted{context.job.key, request, {rest}};
  if (origin_is_left) wanted.origin = at_origin;
  ClaimantSearch search(context.worker, std::move(wanted), context.detail);
  for (;;) {
    auto answer = co_await next_source(search, origin_is_left, at_origin);
    if (!answer) co_return cut;
    if (!answer->outcome()) co_return answer->outcome().error();
    const bool is_neighbours = !!answer->peer();
    const auto before = context.fill().received();
    const auto joined = co_await writer.join(std::move(*answer));
    if (!joined) {
      if (!is_neighbours)
        co_return cut;  // nobody can have the rest of what the origin has replaced
      search.note(writer.attempt(), {Worth::unusable});
      continue;
    }
    auto written = co_await writer.write(request.policy().settings.timeouts.body);
    if (is_neighbours) {
      search.note(writer.attempt(), worth_of(written), context.fill().received() - before);
    }
    co_return written;
  }
}

}  // namespace proxy
