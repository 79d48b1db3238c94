#include <boost/beast/http/field.hpp>
#include <nlohmann/json.hpp>

#include "config/client_setups.hpp"
#include "proxy/pages/own_pages.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy::pages {
namespace {

std::string setups_json(const config::HostPort& proxy) {
  nlohmann::ordered_json clients = nlohmann::ordered_json::array();
  for (const auto& setup : config::client_setups()) {
    clients.push_back({{"name", setup.name},
                       {"title", setup.title},
                       {"place", setup.place},
                       {"text", setup_text(setup, proxy)}});
  }
  const nlohmann::ordered_json page{{"proxy", config::to_text(proxy)}, {"clients", clients}};
  return page.dump(2) + '\n';
}

std::string setups_text(const config::HostPort& proxy) {
  std::string text;
  for (const auto& setup : config::client_setups()) text += config::setup_file(setup, proxy) + '\n';
  return text;
}

}  // namespace

PageAnswer serve_setup(const Visit& visit) {
  const auto at = reached_at(visit);
  if (!at) return refused(needs_host());
  if (visit.path().starts_with("/setup.json")) return send_json(visit.client, setups_json(*at));
  if (reply::is_browser(visit.request)) return serve_dashboard(visit);
  auto message =
      reply::own_message(visit.client, 200, "text/plain; charset=utf-8", setups_text(*at));
  message.set(boost::beast::http::field::vary, "Accept");
  return send_page(visit.client, std::move(message));
}

}  // namespace proxy::pages
