// What all threads know of the servers that they ask.
#pragma once

#include "proxy/upstream/name_health.hpp"
#include "proxy/upstream/origin_clocks.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/origin_traffic.hpp"
#include "proxy/upstream/tls.hpp"

namespace proxy::upstream {

// Any thread. Outlives all questions.
struct Shared {
  Shared(TlsClient& for_all, machine::Clock& clock) : tls(for_all), traffic(clock) {}

  TlsClient& tls;
  OriginHealth health{};
  NameHealth names{};
  OriginClocks clocks{};
  OriginTraffic traffic;
  RangeRefusals range_refusals{};
};

}  // namespace proxy::upstream
