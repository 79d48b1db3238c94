// Which server one fetch asks, and which one it asks next if that one fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "proxy/upstream/origins.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::upstream {

// The origins of a mapping; or the parents of a route, then the origin, then the parents that rest.
// Belongs to one fetch. Call next() before anything else.
class Turns {
 public:
  using Clock = Origins::Clock;

  // `origin`: the server of the URL. `several`: the origins of a mapping, which replace it; or
  // null. `origin` and `route` outlive this object.
  Turns(const Endpoint& origin, std::shared_ptr<Origins> several, const Route& route);

  // Chooses the next server. Returns false, and changes nothing, if none is left.
  bool next(Clock::time_point now);

  // The server that is asked now; before next(), the origin.
  [[nodiscard]] const Endpoint& to() const;
  // The same, if it is a parent; null: it is an origin.
  [[nodiscard]] const Parent* parent() const;
  // Whether a parent is asked that has failed, and has not answered since.
  [[nodiscard]] bool on_trial() const;
  // Whether there is more than the origin to ask, so that what servers do is recorded.
  [[nodiscard]] bool has_choice() const { return several_ || route_.has_parents(); }
  // Whether another server is left, should this one fail.
  [[nodiscard]] bool others_left() const;
  // The servers that have not been asked.
  [[nodiscard]] Route rest() const;

  // What the server that is asked now has done: see Origins. A parent's failures are counted once.
  void failed(Clock::time_point now);
  void worked(Clock::time_point now);
  void silent_since(Clock::time_point asked, Clock::time_point now);

 private:
  enum class At : std::uint8_t { nobody, origin, one_of_several, parent };

  bool choose_parent(Clock::time_point now);
  [[nodiscard]] bool may_go_to_origin() const { return route_.direct && !origin_tried_; }
  [[nodiscard]] Origins* live() const;
  void count_failure();

  const Endpoint& origin_;
  const std::shared_ptr<Origins> several_;
  const Route& route_;
  Origins::Tried tried_;
  std::size_t number_ = 0;  // among the origins, or the parents
  At at_ = At::nobody;
  bool origin_tried_ = false;
  bool counted_ = false;  // as a failure of this turn
};

}  // namespace proxy::upstream
