// What new objects cost the origin and the clients if all proxies of a site are asked for them.
#pragma once

#include <chrono>
#include <cstddef>

#include "tests/bench/faults/full_mesh.hpp"
#include "tests/bench/faults/open_loop.hpp"
#include "tests/bench/faults/played_server.hpp"

namespace bench {

struct Shared {
  Figures figures;
  double each = 0;  // requests to the origin for each object
};

struct NewObjects {
  std::size_t number = 200;
  std::size_t bytes = 2048;
  enum class Asked { all_at_once, one_by_one } asked = Asked::all_at_once;
};

// A site and its origin.
class SharingSite {
 public:
  SharingSite(const MeshOf& site, const Answer& origin);

  // Asks all proxies for each of these objects at the same time.
  Shared ask(const NewObjects& objects);
  // For each of so many objects: asks one proxy, another one each time, and the others 300 ms
  // later. 200 ms after that, sends the signal (SIGKILL or SIGSTOP) to the first proxy. The times
  // are those of the others, and begin with the signal.
  Shared lose_fetchers(std::size_t objects, int signal);

 private:
  std::string url_of(std::size_t object, std::size_t bytes) const;
  std::vector<Sample> ask_all(const std::vector<std::string>& urls) const;
  void recover(std::size_t proxy, int signal);

  PlayedServer origin_;
  FullMesh mesh_;
  std::size_t objects_ = 0;  // so far
};

}  // namespace bench
