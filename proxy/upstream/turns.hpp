// Which server one fetch asks, and which one it asks next if that one fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "proxy/upstream/origins.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::upstream {

// The origins of a mapping, or the parents of a route and then the origin itself. Chooses the first
// server when it is made. Belongs to one fetch.
class Turns {
 public:
  using Clock = Origins::Clock;

  // `origin`: the server of the URL. `several`: the origins of a mapping, which replace it; or
  // null. `origin` and `route` outlive this object.
  Turns(const Endpoint& origin, std::shared_ptr<Origins> several, const Route& route,
        Clock::time_point now);

  // Whether no server may be asked at all: the route allows neither a parent nor the origin.
  [[nodiscard]] bool none() const { return at_ == At::nobody; }
  // The server that is asked now.
  [[nodiscard]] const Endpoint& to() const;
  // The same, if it is a parent; null: it is an origin.
  [[nodiscard]] const Parent* parent() const;
  // Whether there is more than one server.
  [[nodiscard]] bool several() const;
  // Whether another server is left, should this one fail.
  [[nodiscard]] bool others_left() const;

  // Chooses the next server. Returns false, and changes nothing, if none is left.
  bool next(Clock::time_point now);

  // What the server that is asked now has done: see Origins.
  void asked();
  void failed(Clock::time_point now);
  void worked(Clock::time_point now);
  void silent_since(Clock::time_point asked, Clock::time_point now);

 private:
  enum class At : std::uint8_t { nobody, origin, one_of_several, parent };

  [[nodiscard]] Origins* live() const;

  const Endpoint& origin_;
  const std::shared_ptr<Origins> several_;
  const Route& route_;
  Origins::Tried tried_;
  std::size_t number_ = 0;  // among the origins, or the parents
  At at_ = At::nobody;
};

}  // namespace proxy::upstream
