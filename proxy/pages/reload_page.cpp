#include "proxy/pages/reload_page.hpp"

#include <nlohmann/json.hpp>

#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using net::Task;

std::string reloaded_json(const Reloaded& reloaded) {
  using Json = nlohmann::ordered_json;
  Json page{{"applied", reloaded.errors.empty()},
            {"file", reloaded.file},
            {"needs_restart", reloaded.waiting},
            {"errors", Json::array()}};
  for (const auto& error : reloaded.errors) {
    page["errors"].push_back({{"where", error.where}, {"what", error.what}});
  }
  return page.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Task<void> serve_reload(const PagesAccess& pages, Client& client, const Request& request,
                        RequestBody&) {
  if (request.framing.has_body()) client.response.close_after();
  if (pages.instance.leaving || pages.instance.draining || !pages.instance.reload) {
    Refusal refusal{503, "this proxy is ending, and reads no settings any more", Tag::none, {}};
    co_return co_await refuse(client, request, std::move(refusal));
  }
  const auto reloaded = co_await pages.instance.reload();
  const unsigned status = reloaded.errors.empty() ? 200 : 422;
  const auto message = own_message(client, status, "application/json", reloaded_json(reloaded));
  co_await send_message(client, message);
}

}  // namespace proxy
