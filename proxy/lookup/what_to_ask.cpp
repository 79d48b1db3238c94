#include "proxy/lookup/what_to_ask.hpp"

#include "proxy/blocks/aligned_range.hpp"
#include "proxy/sources/neighbour.hpp"

namespace proxy {

using cache::Action;
using http::Forward;

namespace {

// The blocks to ask for in place of the part that the client wants.
std::optional<http::AskedRange> blocks_around(const Process& process, const Request& request,
                                              const Lookup& lookup) {
  const auto& verdict = lookup.verdict;
  if (!process.disk || !verdict.part || verdict.action == Action::complete) return {};
  if (!process.disk->admits(lookup.key)) return {};
  const auto& stored = lookup.stored();
  const bool begun = stored && stored->is_object() && stored->is_part();
  return aligned_to_blocks(request.facts, begun ? stored->body.size : 0);
}

}  // namespace

bool may_share(const Process& process, const Request& request, const Lookup& lookup) {
  const auto& verdict = lookup.verdict;
  // A client that wants a fresh copy must not get one that was asked for earlier.
  if (verdict.reason == Forward::request || request.facts.authorization) return false;
  if (!verdict.part) return true;
  return !request.facts.if_range && blocks_around(process, request, lookup);
}

bool sibling_may_answer(const Request& request, const cache::Verdict& verdict) {
  const auto& facts = request.facts;
  const bool simple = !verdict.part || (http::only_range(facts.ranges) && !facts.if_range);
  // No source can supply the missing blocks of an object without a validator. But a neighbour may
  // have the whole object.
  const bool is_miss = verdict.action == Action::fetch &&
                       (verdict.reason == Forward::uri_miss ||
                        verdict.reason == Forward::vary_miss || verdict.reason == Forward::partial);
  const bool is_stale = verdict.action != Action::complete && verdict.reason == Forward::stale;
  return simple && neighbours_may_answer(request) && (is_miss || (is_stale && !verdict.part));
}

bool asks_siblings(const Process& process, const Request& request, const Lookup& lookup,
                   const cache::Verdict& verdict) {
  // What the origin has replaced, neighbours may still have.
  if (lookup.anew) return false;
  return sibling_may_answer(request, verdict) && may_ask_neighbours(process, lookup.key, request);
}

std::optional<http::AskedRange> range_override(const Process& process, const Request& request,
                                               const Lookup& lookup) {
  if (auto blocks = blocks_around(process, request, lookup)) return blocks;
  const auto& facts = request.facts;
  const bool resumes = lookup.verdict.part && lookup.verdict.action != Action::complete;
  if (!resumes || !facts.if_range) return std::nullopt;
  return http::only_range(facts.ranges);
}

}  // namespace proxy
