// The clients of the soak: each asks for popular resources often and for others rarely, whole, in
// parts and on conditions, and checks each answer.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/zipf.hpp"
#include "tests/soak/fleet.hpp"
#include "tests/soak/world.hpp"
#include "tests/support/client.hpp"

namespace soak {

// What the clients have seen since the last take().
struct Seen {
  std::size_t answers = 0;
  std::size_t hits = 0;
  std::size_t excused = 0;  // failures of a proxy that was ended, or of the origin
  std::vector<std::chrono::microseconds> times = {};
};

class Crowd {
 public:
  Crowd(World& world, const Fleet& fleet, std::string origin, unsigned seed, std::size_t clients);
  // Ends all clients.
  ~Crowd();

  Seen take();
  // Wrong answers so far, in words; the first thirty.
  std::vector<std::string> faults() const;

 private:
  struct Question {
    std::size_t proxy = 0;
    std::size_t resource = 0;
    support::Fields fields = {};
    bool only_if_cached = false;
  };

  void run(const std::stop_token& stop, unsigned seed);
  Question question(std::mt19937_64& random) const;
  void ask(std::unique_ptr<support::Client>& client, const Question& question);
  void judge(const Question& question, const support::Response& response, Clock::time_point asked);
  void blame(const Question& question, const std::string& fault);
  bool is_excused(const Question& question, Clock::time_point asked) const;

  World& world_;
  const Fleet& fleet_;
  const std::string origin_;
  const bench::Zipf small_{World::kSmall, 0.9};
  const bench::Zipf large_{World::kLarge, 0.7};
  mutable std::mutex mutex_;  // guards the two below
  Seen seen_;
  std::vector<std::string> faults_;
  std::vector<std::jthread> clients_;
};

}  // namespace soak
