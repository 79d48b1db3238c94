#include "proxy/pages/monitoring.hpp"

#include "proxy/pages/digest_json.hpp"
#include "proxy/pages/health.hpp"
#include "proxy/pages/metrics_text.hpp"
#include "proxy/pages/query.hpp"
#include "proxy/pages/readers.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using net::Task;

namespace {

// Takes many milliseconds where many descriptors are open, so it is for Cache::aside.
Task<std::string> tell_metrics(const PagesAccess& pages, const Policy& policy) {
  co_return metrics_text(pages, policy);
}

}  // namespace

Task<void> serve_digest_json(const PagesAccess& pages, Client& client, const Request& request,
                             RequestBody&) {
  const auto message =
      own_message(client, 200, "application/json", digest_json(pages, request.policy()));
  co_await send_message(client, message);
}

Task<void> serve_metrics(const PagesAccess& pages, Client& client, const Request& request,
                         RequestBody&) {
  auto telling = tell_metrics(pages, request.policy());
  auto text = co_await net::run_on(pages.cache.aside, std::move(telling));
  const auto message =
      own_message(client, 200, "text/plain; version=0.0.4; charset=utf-8", std::move(text));
  co_await send_message(client, message);
}

Task<void> serve_health(const PagesAccess& pages, Client& client, const Request& request,
                        RequestBody&) {
  const auto strict = only_parameter(request.target.path(), "strict");
  if (!strict) {
    auto refusal = Refusal::bad(strict.error().text);
    co_return co_await refuse(client, request, std::move(refusal));
  }
  const auto troubles = troubles_of(pages, request.policy(), pages.clock().steady());
  const bool is_strict = *strict == "1";
  const bool serves = !pages.instance.draining && !(is_strict && !troubles.empty());
  const auto readers =
      is_admin(pages, client, request, request.policy()) ? Audience::admins : Audience::monitors;
  const auto message = own_message(client, serves ? 200 : 503, "application/json",
                                   health_json(pages, troubles, readers));
  co_await send_message(client, message);
}

}  // namespace proxy
