#include "proxy/fetching/duplicate.hpp"

#include <algorithm>

#include "proxy/fetching/body_writer.hpp"

namespace proxy {
namespace {

// Whether the client asks for so little of the part that it can be held back until it is whole.
bool is_little_asked_for(const FillContext& context, const http::ContentRange& part) {
  const auto asked = http::only_range(context.request().facts.ranges);
  if (!asked || !part.complete || asked->first > part.range.last) return false;
  const auto last = std::min(asked->last.value_or(part.range.last), part.range.last);
  return last - asked->first < BodyWriter::kHeldBack;
}

}  // namespace

bool was_left_there(const FillContext& context) {
  const auto* const placement = context.cache().placement;
  return placement && placement->was_asked_before(context.job.key);
}

bool is_left_there(const FillContext& context, const Incoming& incoming) {
  auto* const placement = context.cache().placement;
  if (!placement) return false;
  const auto& answer = incoming.attempt;
  const auto& peer = *answer.peer();
  const auto& part = incoming.entry->range();
  const Offer offer{.role = peer.role,
                    .takes = peer.accuracy.first_byte(),
                    .took = answer.waits_itself() ? std::nullopt : std::optional(answer.waited()),
                    .renews = !!context.job.stored.entry,
                    .long_part = part && !is_little_asked_for(context, *part),
                    .length = part ? part->complete : incoming.length};
  const auto setting = context.request().policy().settings.digest.duplicates;
  return placement->leaves_there(setting, context.job.key, offer);
}

}  // namespace proxy
