// Asks the name servers for what each of them must know, while they do not answer other questions.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/ares_channel.hpp"
#include "proxy/upstream/name_health.hpp"

namespace proxy::upstream {

// One per thread, for the Resolver. Tells `health`, which outlives this object, what became of
// questions and probes.
class NameProbe {
 public:
  // For so long a question waits before the first probe, and a probe before the next one. Another
  // name server gets the question earlier if the first one is silent.
  static constexpr std::chrono::milliseconds kPause{1250};

  // `servers`: as for AresChannel.
  NameProbe(net::Executor executor, const std::string& servers, NameHealth& health);

  // A question has left. Probes from kPause on, until it or a probe has a reply.
  void asked();
  void answered();
  void failed(const std::string& name);

 private:
  void watch();
  void probe();

  NameHealth& health_;
  AresChannel channel_;
  net::Timer timer_;
  bool watching_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // handlers may outlive us
};

}  // namespace proxy::upstream
