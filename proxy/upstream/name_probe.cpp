#include "proxy/upstream/name_probe.hpp"

#include "proxy/upstream/error.hpp"

namespace proxy::upstream {
namespace {

using Clock = NameHealth::Clock;
using Probed = NameHealth::Probed;

Probed probed_by(const net::Result<Resolved>& found) {
  if (found) return Probed::good;
  const auto error = found.error();
  if (error == Errc::name_not_found || error == Errc::no_address) return Probed::good;
  return error == Errc::resolver_refused ? Probed::failure : Probed::silence;
}

}  // namespace

NameProbe::NameProbe(net::Executor executor, const std::string& servers, NameHealth& health)
    : health_(health), channel_(executor, servers, OnRefusal::tell), timer_(executor) {}

void NameProbe::asked() {
  health_.asked(Clock::now());
  watch();
}

void NameProbe::answered() {
  health_.answered(Clock::now());
}

void NameProbe::failed(const std::string& name) {
  health_.failed(name, Clock::now());
}

void NameProbe::watch() {
  if (watching_) return;
  watching_ = true;
  timer_.expires_after(kPause);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](net::error_code error) {
    if (error || alive.expired()) return;
    watching_ = false;
    if (!health_.is_in_doubt()) return;
    probe();
    watch();
  });
}

// The root of all names needs no other name server.
void NameProbe::probe() {
  health_.asked(Clock::now());
  channel_.ask(".", [this, alive = std::weak_ptr(alive_)](const net::Result<Resolved>& found) {
    if (!alive.expired()) health_.probed(probed_by(found), Clock::now());
  });
}

}  // namespace proxy::upstream
