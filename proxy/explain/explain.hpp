// Explains a request without carrying it out.
#pragma once

#include <boost/system/result.hpp>
#include <string>

#include "config/networks.hpp"
#include "proxy/client/client.hpp"
#include "proxy/explain/explanation.hpp"

namespace proxy {

// A request without fields but Host. If `reverse` maps the host by a name, or nobody may use this
// proxy as one, it is a request to this proxy as the server; else to it as a proxy.
struct Hypothesis {
  std::string url;          // for CONNECT also HOST:PORT
  std::string method = {};  // empty: GET, but CONNECT for an https URL, since clients tunnel those
  config::Address client;
  std::string client_text;
  std::string user = {};  // who signs in where a rule asks for a user; empty: nobody
};

// Why there is no such request: what is wrong with the URL, the method or the user.
struct NoRequest {
  std::string why;
};
using Explained = boost::system::result<Explanation, NoRequest>;

// Asks the rules that answer() asks, in its order, and looks at what is stored, at the neighbours'
// digests and at the routes. Counts nothing, stores nothing, asks nobody. What a name leads to, and
// so whether access.deny_to allows it, is not known before it is connected to. `asker`: the client
// of the page; the estimates of its thread are used. The disk may be waited for.
net::Task<Explained> explain(Client& asker, Hypothesis asked);

}  // namespace proxy
