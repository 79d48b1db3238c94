#include "proxy/pages/cache_pages.hpp"

#include <spdlog/spdlog.h>

#include "proxy/inspect/live.hpp"
#include "proxy/pages/query.hpp"
#include "proxy/pages/send_slices.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using net::Task;

namespace {

// The right of one request to verify, for as long as this lives.
class VerifyTurn {
 public:
  explicit VerifyTurn(std::atomic<bool>& taken) : taken_(taken), mine_(!taken.exchange(true)) {}
  VerifyTurn(const VerifyTurn&) = delete;
  VerifyTurn& operator=(const VerifyTurn&) = delete;
  ~VerifyTurn() {
    if (mine_) taken_ = false;
  }
  explicit operator bool() const { return mine_; }

 private:
  std::atomic<bool>& taken_;
  const bool mine_;
};

// The name under which the URL in the query is stored.
boost::system::result<std::string, Refusal> name_in(const Request& request,
                                                    const SiteRules& rules) {
  auto text = only_parameter(request.target.path(), "url");
  if (!text) return Refusal::bad(text.error().text);
  const auto& given = *text;
  const auto target = given ? http::parse_target("GET", *given) : http::HeadError::bad_target;
  if (target && target->form() == http::Target::Form::absolute) return rules.key_url(*target);
  return Refusal::bad("expected ?url=http://HOST/PATH");
}

std::optional<Refusal> why_not_verified(const PagesAccess& pages, const Request& request,
                                        const VerifyTurn& turn) {
  const auto parameters = only_parameter(request.target.path(), "");
  if (!parameters) return Refusal::bad(parameters.error().text);
  if (!pages.cache.disk) {
    return Refusal{409, "there is nothing to verify: this cache is in memory alone", Tag::none, {}};
  }
  if (turn) return std::nullopt;
  return Refusal{409, "the cache is being verified already", Tag::none, {}};
}

inspect::Live live_in(const PagesAccess& pages) {
  return {pages.cache.store, pages.cache.disk};
}

}  // namespace

Task<void> serve_cache_list(const PagesAccess& pages, Client& client, const Request& request,
                            RequestBody&) {
  auto prefix = only_parameter(request.target.path(), "prefix");
  if (!prefix) {
    auto refusal = Refusal::bad(prefix.error().text);
    co_return co_await refuse(client, request, std::move(refusal));
  }
  std::shared_ptr<inspect::Slices> slices =
      inspect::list_live(live_in(pages), prefix->value_or(""));
  co_await send_slices(pages, client, std::move(slices));
}

Task<void> serve_cache_sums(const PagesAccess& pages, Client& client, const Request& request,
                            RequestBody&) {
  auto contains = only_parameter(request.target.path(), "contains");
  if (!contains) {
    auto refusal = Refusal::bad(contains.error().text);
    co_return co_await refuse(client, request, std::move(refusal));
  }
  std::shared_ptr<inspect::Slices> slices =
      inspect::sum_live(live_in(pages), contains->value_or(""));
  co_await send_slices(pages, client, std::move(slices));
}

Task<void> serve_cache_show(const PagesAccess& pages, Client& client, const Request& request,
                            RequestBody&) {
  const auto name = name_in(request, request.policy().rules);
  if (!name) {
    auto refusal = name.error();
    co_return co_await refuse(client, request, std::move(refusal));
  }
  std::shared_ptr<inspect::Slices> slices = inspect::show_live(live_in(pages), *name);
  co_await send_slices(pages, client, std::move(slices));
}

Task<void> serve_cache_verify(const PagesAccess& pages, Client& client, const Request& request,
                              RequestBody&) {
  if (request.framing.has_body()) client.response.close_after();
  const VerifyTurn turn(pages.instance.verifying);
  auto refusal = why_not_verified(pages, request, turn);
  if (refusal) co_return co_await refuse(client, request, std::move(*refusal));
  std::shared_ptr<inspect::Slices> slices =
      inspect::verify_live(*pages.cache.disk, [](const auto& damage) {
        spdlog::warn("segment {:08x}, offset {}: {}; what the disk held there of {} was dropped",
                     damage.segment, damage.offset, to_string(damage.fault),
                     damage.url.empty() ? "some URL" : damage.url);
      });
  co_await send_slices(pages, client, std::move(slices));
}

}  // namespace proxy
