#include "proxy/pages/explain_page.hpp"

#include "proxy/explain/explain.hpp"
#include "proxy/pages/query.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using net::Task;

namespace {

boost::system::result<Hypothesis, QueryFault> hypothesis_in(const Client& client,
                                                            const Request& request) {
  constexpr std::string_view kNames[] = {"url", "method", "client", "user"};
  auto read = parameters(request.target.path(), kNames);
  if (!read) return read.error();
  auto& given = *read;
  if (!given.contains("url")) return QueryFault{"expected ?url=http://HOST/PATH"};
  Hypothesis asked{
      .url = std::move(given["url"]), .client = client.address, .client_text = client.address_text};
  if (given.contains("method")) asked.method = std::move(given["method"]);
  if (given.contains("user")) asked.user = std::move(given["user"]);
  if (!given.contains("client")) return asked;
  const auto address = config::parse_address(given["client"]);
  if (!address) return QueryFault{"client: expected an IP address"};
  asked.client = *address;
  asked.client_text = std::move(given["client"]);
  return asked;
}

}  // namespace

Task<void> serve_explanation(const PagesAccess&, Client& client, const Request& request,
                             RequestBody&) {
  auto asked = hypothesis_in(client, request);
  if (!asked) {
    auto fault = Refusal::bad(asked.error().text);
    co_return co_await refuse(client, request, std::move(fault));
  }
  const auto explained = co_await explain(client, std::move(*asked));
  if (!explained) {
    auto fault = Refusal::bad(explained.error().why);
    co_return co_await refuse(client, request, std::move(fault));
  }
  const auto message = own_message(client, 200, "application/json", explanation_json(*explained));
  co_await send_message(client, message);
}

}  // namespace proxy
