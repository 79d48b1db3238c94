#include "proxy/fetching/duplicate.hpp"

#include <algorithm>

#include "proxy/fetching/body_writer.hpp"
#include "proxy/sources/budget.hpp"

namespace proxy {
namespace {

// As the estimate will be with this answer. A time in which the neighbour waited for its own source
// is not its own.
bool is_near_at_hand(const Attempt& answer) {
  const auto& peer = *answer.peer();
  if (peer.role != config::Role::sibling) return false;
  const auto known = peer.accuracy.first_byte();
  return is_near(answer.waits_itself() ? known : known.with(answer.waited()));
}

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
  if (!placement || context.job.stored.entry || !is_near_at_hand(incoming.attempt)) return false;
  const auto& part = incoming.entry->range();
  if (part && !is_little_asked_for(context, *part)) return false;
  const auto length = part ? part->complete : incoming.length;
  const auto setting = context.request().policy().settings.digest.duplicates;
  return !placement->stores_duplicate(setting, context.job.key, length);
}

}  // namespace proxy
