// The settings that an import makes, in the order in which they are written.
#pragma once

#include "proxy/command/squid/json.hpp"

namespace proxy::command::squid {

// Each part appends its own. What stays an empty object is not written.
struct Imported {
  Json top;  // name, listen, threads
  Json cache;
  Json::Items peers;
  Json after_peers;  // never_direct, forwarded, reverse, forward
  Json::Items rules;
  Json access;
  Json log;
  Json timeouts;
  Json limits;
};

}  // namespace proxy::command::squid
