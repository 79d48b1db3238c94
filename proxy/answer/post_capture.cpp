#include "proxy/answer/post_capture.hpp"

#include <algorithm>

#include "proxy/cache/other_methods.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

cache::Storability PostCapture::judge(const Request& request, const http::ResponseHead& answer,
                                      const cache::Times& times) {
  const auto targets = targets_for(request, request.policy().settings.cache);
  return cache::may_store_posted({request.head, request.facts, request.target}, answer, times,
                                 targets);
}

std::unique_ptr<PostCapture> PostCapture::begin(const ServeAccess& access, const Request& request,
                                                const http::ResponseHead& answer,
                                                const cache::Times& times) {
  const cache::Received received{.url = request.stored_as(),
                                 .request = request.head.fields,
                                 .response = answer,
                                 .times = times,
                                 .our_name = access.name(),
                                 .shared = request.may_be_shared(),
                                 .targets = targets_for(request, request.policy().settings.cache),
                                 .bounds = request.facts.freshness,
                                 .rule = request.facts.rule,
                                 .by_rule_alone = request.facts.has_credentials};
  return std::unique_ptr<PostCapture>(new PostCapture(access, request, received));
}

PostCapture::PostCapture(const ServeAccess& access, const Request& request,
                         const cache::Received& received)
    : access_(access),
      key_(digest::key_of(digest::Method::get, request.stored_as())),
      entry_(cache::Entry::make(access.cache().budget, received)) {}

cache::seconds PostCapture::ttl() const {
  return entry_->ttl(access_.clock().now());
}

void PostCapture::append(std::span<const char> bytes) {
  if (!entry_) return;
  const bool fits = entry_->body.size + bytes.size() <= access_.cache().store.max_object();
  if (!fits || (access_.cache().budget.over() && !access_.cache().store.make_room())) {
    storability_ = fits ? cache::Storability::no_room : cache::Storability::too_large;
    entry_.reset();
    return;
  }
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const auto block = cache::Block::make(access_.cache().budget, size);
  std::copy(bytes.begin(), bytes.end(), block->data());
  entry_->body.slices.push_back({block, size});
  entry_->body.size += size;
}

void PostCapture::store() {
  if (!entry_) return;
  const auto entry = std::exchange(entry_, nullptr);
  const bool is_kept = keep(access_.cache(), key_, entry, begun_);
  storability_ =
      is_kept ? cache::Storability::yes : why_not_kept(access_.cache(), key_, *entry, begun_);
}

}  // namespace proxy
