#include "proxy/blocks/run_answer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "config/text.hpp"

#include "proxy/cache/combine.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/tiers/cache.hpp"

namespace proxy::blocks {

namespace {

constexpr std::size_t kMostOfTag = 100;

// The stored entry of the run's version, if it is still in force.
cache::Ref<const cache::Entry> stored_object(tiers::Cache& cache, const RunJob& job) {
  const auto& object = *job.run->object;
  auto stored = cache.in_memory(job.key, object.url(), job.request->get().head.fields).entry;
  return stored && stored->object() == object.object() ? stored : nullptr;
}

bool is_stricter(const cache::Entry& newer, const cache::Entry& stored) {
  // Age and Date count whole seconds, so the same response may seem to end a second earlier.
  constexpr std::chrono::seconds kOfRounding{1};
  return (newer.no_cache && !stored.no_cache) || (newer.never_stale && !stored.never_stale) ||
         newer.fresh_until() + kOfRounding < stored.fresh_until();
}

// Whether the answer is about the URL that the object is stored under. An object that was found by
// its digest is stored under another one.
bool is_of_url(const policy::Request& request, const cache::Entry& object) {
  return request.stored_as() == object.url();
}

// Whether the answer may not be stored because of the request. The stored object is then not
// outdated.
bool is_of_request(cache::Storability storability) {
  return storability == cache::Storability::request_no_store ||
         storability == cache::Storability::vary_too_long ||
         storability == cache::Storability::site || storability == cache::Storability::method;
}

}  // namespace

Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked,
           const policy::Request& request) {
  const auto status = answer.status;
  // A 416 tells of a shorter representation (RFC 9110 15.5.17), a 412 of another validator.
  if (status == 404 || status == 410 || status == 412 || status == 416) return Fit::changed;
  if (status != 200 && status != 206) return Fit::refused;
  const auto part = cache::range_of(answer);
  if (status == 206 && !part) return Fit::refused;  // several parts, or none that can be read
  if (!policy::may_continue(object, answer.fields, request)) return Fit::changed;
  const auto length = object.body.size;
  const bool sized = framing.kind == http::Framing::Kind::sized;
  if (status == 200) {
    if (answer.fields.has(http::field::content_range)) return Fit::refused;  // a part by its field
    return sized && framing.length == length ? Fit::whole : Fit::changed;
  }
  // A weak validator may stay the same while the bytes change, but then mostly the length does,
  // too.
  if (part->complete && *part->complete != length) return Fit::changed;
  // Some origins code the bytes of the part, and not the whole. Such a body has another length, so
  // a coded part must state its length.
  const bool promised = sized ? framing.length == asked.size() : !cache::is_coded(answer.fields);
  return part->range == asked && part->complete && promised ? Fit::range : Fit::refused;
}

bool is_first_of(const http::ContentRange& part, const http::AskedRange& asked) {
  if (!part.complete || part.range.first != asked.first) return false;
  const auto last = std::min(asked.last.value_or(UINT64_MAX), *part.complete - 1);
  return part.range.last < last && (part.range.last + 1) % cache::kBlockBytes == 0;
}

http::ByteRange bytes_of(const cache::BlockRange& blocks, std::uint64_t length) {
  return {cache::bytes_of_block(blocks.first, length).first,
          cache::bytes_of_block(blocks.last, length).last};
}

cache::Freshened with_head_of(const sources::Attempt& answer, tiers::Cache& cache,
                              const RunJob& job, const cache::Entry& object) {
  const auto& request = job.request->get();
  const auto message = answer.received(request, object.url());
  auto all = cache::with_part(cache.budget, object, request.facts, message, {});
  all.entry->body.size = job.run->object->body.size;
  return all;
}

void warn_of_change(const policy::Request& request, const cache::Entry& stored,
                    const http::ResponseHead& answer) {
  if (!request.facts.is_immutable_by_class() || !is_of_url(request, stored)) return;
  spdlog::warn(
      "{} never changes, by its rule, but has another body now: status {}, ETag {}; "
      "stored: ETag {}, {} bytes",
      policy::url_for_others(request), answer.status,
      config::printable(answer.fields.value(http::field::etag), kMostOfTag),
      config::printable(stored.quotes().etag, kMostOfTag), stored.body.size);
}

void erase_object(tiers::Cache& cache, const RunJob& job) {
  const auto& facts = job.request->get().facts;
  if (!is_of_url(job.request->get(), *job.run->object)) return;
  if (facts.authorization || facts.open_to_all) return;  // the answer may be about credentials
  if (stored_object(cache, job)) cache.drop(job.key, job.run->object->url());
}

bool may_be_kept(tiers::Cache& cache, const RunJob& job, const sources::Attempt& answer) {
  const auto stored = stored_object(cache, job);
  const auto all = with_head_of(answer, cache, job, stored ? *stored : *job.run->object);
  if (all.storability != cache::Storability::yes) {
    if (!is_of_request(all.storability)) erase_object(cache, job);
    return false;
  }
  const bool is_its_head = stored && is_of_url(job.request->get(), *stored);
  if (!is_its_head || !is_stricter(*all.entry, *stored)) return true;
  // Without room for the stricter entry the laxer one must not stay either.
  const bool kept = cache.store(job.key, all.entry, answer.begun(), {stored});
  if (!kept) erase_object(cache, job);
  return true;
}

}  // namespace proxy::blocks
