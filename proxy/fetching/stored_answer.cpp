#include "proxy/fetching/stored_answer.hpp"

#include <utility>

#include "proxy/blocks/presence.hpp"
#include "proxy/fetching/body_writer.hpp"

namespace proxy {

namespace {

void append_body(Fill& fill, const cache::Entry& entry) {
  for (const auto& slice : entry.body.slices) fill.append(slice.block, slice.size);
}

}  // namespace

cache::Freshened freshened_by(const FillContext& context, const Attempt& answer,
                              const cache::Entry& stored) {
  return cache::freshen(context.cache().budget, stored, context.request().facts,
                        context.received(answer));
}

void write_unmodified(FillContext& context, Attempt& answer,
                      const cache::Ref<const cache::Entry>& stored, cache::Freshened freshened) {
  auto& fill = context.fill();
  auto from = context.provenance(answer);
  const cache::Ref<const cache::Entry> fresh = freshened.entry;
  answer.fetch().finish();
  const bool may_be_kept = freshened.storability == cache::Storability::yes;
  const bool is_outdated =
      !may_be_kept && freshened.storability != cache::Storability::vary_too_long;
  if (is_outdated) context.erase_stored();
  from.validated = true;
  from.stored = may_be_kept && context.store(fresh, stored);
  from.storability = freshened.storability;
  if (may_be_kept && !from.stored) from.storability = context.why_not_stored(*fresh);
  if (!from.stored) context.count(from.storability);
  append_body(fill, *fresh);
  const bool shared = may_be_kept && fresh->reusable(context.now());
  if (!shared) context.leave_list_as_unshared(freshened.storability);
  fill.publish({fresh, fresh->body.size, shared, std::move(freshened.asker_fields), from});
  fill.finish();
}

void write_clients_unmodified(FillContext& context, Attempt answer,
                              cache::Ref<const cache::Entry> stored) {
  const auto control = context.control_of(answer);
  auto incoming = incoming_of(context, std::move(answer), control, cache::Storability::partial,
                              std::move(stored));
  BodyWriter writer(context, std::move(incoming));
  writer.publish();
  writer.complete();
}

StoodIn stand_in(FillContext& context, const Attempt& failed,
                 const cache::Ref<const cache::Entry>& stored, std::string_view why,
                 std::chrono::seconds leave) {
  auto& fill = context.fill();
  if (context.job.refresh) {  // a request that has joined the refresh asks again for itself
    fill.fail({Failure::Where::us, Failure::What::abandoned, {}});
    return StoodIn::yes;
  }
  const auto& request = context.request();
  if (!stored || !cache::may_stand_in(request.facts, *stored, context.now(), leave))
    return StoodIn::no;
  const bool lacks_blocks = stored->object() && presence(context.access, request, context.job.key,
                                                         *stored) != Presence::stored;
  if (lacks_blocks) return StoodIn::no;
  context.remark("stale-if-error", why);
  auto from = context.provenance(failed);
  from.stood_in = leave;
  append_body(fill, *stored);
  fill.publish({stored, stored->body.size, true, {}, std::move(from)});
  fill.finish();
  return StoodIn::yes;
}

}  // namespace proxy
