#include "tests/fuzz/proxy/play.hpp"

#include <algorithm>
#include <charconv>

#include "tests/fuzz/proxy/accuse.hpp"
#include "tests/fuzz/proxy/judge.hpp"

namespace fuzz {
namespace {

using std::chrono::seconds;

// Longer than every time-out of the proxy, in so many turns of time.
constexpr int kTurns = 40;
constexpr seconds kTurn{10};
constexpr std::size_t kMostClients = 8;
constexpr std::size_t kMostServers = 256;

seconds seconds_in(std::string_view text) {
  constexpr std::int64_t kLongest = 40'000'000;  // more than a year
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return seconds(std::clamp<std::int64_t>(count, 0, kLongest));
}

const char* client_address(const Script& script) {
  if (script.has('l')) return "127.0.0.1";
  if (script.has('b')) return kNeighbours[0];
  return script.has('p') ? "203.0.113.9" : "10.0.0.7";
}

}  // namespace

Play::Play(const Script& script) : script_(script) {
  if (script.has('d')) disk_.emplace();
  begin_world();
}

void Play::begin_world() {
  world_.reset();
  world_.emplace(script_, disk_ ? *disk_ / "cache" : std::filesystem::path());
}

void Play::run() {
  for (const auto& step : script_.steps) {
    act(step);
    settle();
  }
  end_connections();
  judge_answers({script_, world_->policy(), clients_, servers_});
  judge_requests({script_, world_->policy(), clients_, servers_});
}

void Play::settle() {
  for (bool moved = true; moved;) {
    moved = world_->run();
    for (auto& made : system_.take_connections()) {
      if (servers_.size() < kMostServers) servers_.emplace_back(std::move(made));
      moved = true;
    }
    for (auto& client : clients_) moved = client.exchange() || moved;
    for (auto& server : servers_) moved = server.exchange() || moved;
  }
}

void Play::connect_client() {
  if (clients_.size() == kMostClients) clients_.back().leave();
  auto [far, near] = system_.client(client_address(script_));
  clients_.emplace_back(std::move(far));
  world_->serve(near);
}

void Play::act(const Step& step) {
  if (clients_.empty() || step.kind == 'k') connect_client();
  auto& client = clients_.back();
  switch (step.kind) {
    case 'c':
    case 'k':
      return client.send(step.bytes);
    case 'h':
      return client.finish();
    case 'q':
      return client.leave();
    case 'w':
    case 'W':
      return client.reads(step.kind == 'W');
    case 'o':
    case 'O':
    case 'n':
    case 'N':
      return answer(step);
    case 't':
      system_.pass(seconds_in(step.bytes));
      settle();
      return world_->look_around();
    case 'f':
    case 'F':
      system_.step(step.kind == 'f' ? seconds_in(step.bytes) : -seconds_in(step.bytes));
      settle();
      return world_->look_around();
    case 'd':
      return world_->hear_poll(step.bytes);
    case 'R':
      return begin_world();
    default:
      return;
  }
}

void Play::answer(const Step& step) {
  const bool neighbour = step.kind == 'n' || step.kind == 'N';
  const auto waiting = std::find_if(servers_.begin(), servers_.end(), [&](const ServerEnd& server) {
    return server.waits() && server.is_neighbour() == neighbour;
  });
  auto& last = answered_last_[neighbour];
  if (waiting != servers_.end()) last = &*waiting;
  if (!last) return;
  last->answer(step.bytes);
  if (step.kind == 'O' || step.kind == 'N') last->finish();
}

void Play::end_connections() {
  for (auto& server : servers_) server.finish();
  settle();
  for (auto& client : clients_) {
    client.reads(true);
    client.finish();
  }
  settle();
  for (int turn = 0; turn < kTurns && world_->has_connections(); ++turn) {
    system_.pass(kTurn);
    settle();
    for (auto& server : servers_) server.finish();  // those that were asked meanwhile
  }
  if (world_->has_connections()) accuse("a client's connection does not end");
}

}  // namespace fuzz
