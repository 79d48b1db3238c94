#include "proxy/fetching/rest_of_body.hpp"

#include <utility>

#include "proxy/cache/partial.hpp"
#include "proxy/fetching/object_writer.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::fetching {

using net::Task;

namespace {

bool may_be_joined(const cache::Entry& entry) {
  return !entry.range() && !entry.giver().guest && !cache::strong_validator(entry).empty();
}

// Variants of a URL may share a Last-Modified, and a neighbour does not get the fields of the
// client that select one. An entity tag names the variant, too.
bool neighbours_may_join(const cache::Entry& entry) {
  return !entry.quotes().etag.empty() && cache::strong_validator(entry) == entry.quotes().etag;
}

sources::Attempt rest_at_origin(const FillContext& context, const BodyWriter& writer) {
  const auto& request = context.request();
  auto head = sources::rest_request(request, context.access.name(), *writer.entry(),
                                    context.fill().received());
  return {context.access.sources, sources::origin_plan(request, std::move(*head)), request};
}

Task<upstream::Outcome<void>> write_joined(FillContext& context, BodyWriter& writer,
                                           sources::Attempt rest) {
  const auto joined = co_await writer.join(std::move(rest));
  if (!joined) co_return joined.error();
  co_return co_await writer.write(context.request().policy().settings.timeouts.body);
}

Task<upstream::Outcome<void>> write_rest_from_origin(FillContext& context, BodyWriter& writer,
                                                     upstream::Failure cut) {
  auto rest = rest_at_origin(context, writer);
  const auto answered = co_await rest.ask();
  if (!answered) co_return answered.error();
  if (!writer.fits(rest)) co_return cut;
  co_return co_await write_joined(context, writer, std::move(rest));
}

// Takes the rest from the first neighbour that has it. Nothing: none has.
Task<std::optional<upstream::Outcome<void>>> write_rest_from_neighbour(FillContext& context,
                                                                       BodyWriter& writer,
                                                                       RestFrom sources) {
  const auto entry = writer.entry();
  const auto before = context.fill().received();
  const sources::PartAsked rest{{before, std::nullopt}, entry->quotes().etag};
  sources::ClaimantSearch::For wanted{context.job.key, context.request(), {rest}};
  wanted.allowed.only_origin = {};
  wanted.nobody_else = sources == RestFrom::neighbours;
  sources::ClaimantSearch search(context.access.sources, std::move(wanted), context.inquiries);
  for (;;) {
    std::optional<UnreadWatch> watch(std::in_place, context, search);
    auto answer = co_await search.next();
    watch.reset();
    if (!answer) co_return std::nullopt;
    if (!writer.fits(*answer)) {
      search.record(*answer, {sources::Worth::unusable, peers::FalseHit::unfit});
      continue;
    }
    search.settle();
    auto written = co_await writer.join(std::move(*answer));
    const auto idle = search.body_idle(writer.attempt());
    if (written)
      written = co_await writer.write(
          idle, blocks::LeastRate(blocks::kLeastSiblingRate, blocks::kRateGrace));
    auto finding = sources::worth_of(written);
    // It may be the beginning that is wrong, which another source gave.
    if (finding.worth == sources::Worth::wrong) finding.worth = sources::Worth::given_up;
    search.record(writer.attempt(), finding, context.fill().received() - before);
    co_return std::optional(written);
  }
}

}  // namespace

Task<upstream::Outcome<void>> write_rest(FillContext& context, BodyWriter& writer,
                                         upstream::Failure cut, RestFrom sources) {
  if (!may_be_joined(*writer.entry())) co_return cut;
  const bool neighbours = sources != RestFrom::origin && neighbours_may_join(*writer.entry());
  // A neighbour that fails rests, so each is asked once.
  for (auto peers = context.request().policy().directory->peers().size(); neighbours && peers > 0;
       --peers) {
    const auto written = co_await write_rest_from_neighbour(context, writer, sources);
    if (!written) break;
    const bool is_over = *written || sources::worth_of(*written).worth != sources::Worth::cut;
    if (is_over) co_return *written;
    cut = written->error();
  }
  if (sources == RestFrom::neighbours) co_return cut;
  co_return co_await write_rest_from_origin(context, writer, cut);
}

Task<upstream::Outcome<void>> outlast_silence(FillContext& context, sources::ClaimantSearch& search,
                                              BodyWriter& writer, upstream::Outcome<void> written,
                                              std::chrono::milliseconds idle) {
  const auto longest = context.request().policy().settings.timeouts.body;
  while (sources::is_silent(written, writer.attempt()) && may_be_joined(*writer.entry())) {
    const auto before = context.fill().received();
    std::function<bool(sources::Attempt&)> fits = [&writer](sources::Attempt& rest) {
      return writer.fits(rest);
    };
    auto asked = rest_at_origin(context, writer);
    auto rest = co_await sources::race_for_rest(context.access.sources, writer.attempt(),
                                                std::move(asked), std::move(fits), longest);
    if (rest) {
      search.record(writer.attempt(), sources::worth_of(written), before);
      co_return co_await write_joined(context, writer, std::move(*rest));
    }
    written = co_await writer.write(idle);
    if (context.fill().received() == before) break;  // it was silent for so long
  }
  co_return written;
}

}  // namespace proxy::fetching
