// One client's connection as the request path sees it.
#pragma once

#include <string>

#include "config/networks.hpp"
#include "proxy/input.hpp"
#include "proxy/reply.hpp"
#include "proxy/worker.hpp"

namespace proxy {

struct Client {
  Worker& worker;
  net::Stream& stream;
  Input& input;
  Reply& reply;
  config::Address address;
  std::string address_text;
};

}  // namespace proxy
