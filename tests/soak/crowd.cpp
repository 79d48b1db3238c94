#include "tests/soak/crowd.hpp"

#include <utility>

namespace soak {

using support::Client;
using support::Response;

Crowd::Crowd(World& world, const Fleet& fleet, std::string origin, unsigned seed,
             std::size_t clients)
    : world_(world), fleet_(fleet), origin_(std::move(origin)) {
  for (std::size_t i = 0; i < clients; ++i) {
    clients_.emplace_back([this, own = seed + static_cast<unsigned>(i)](
                              const std::stop_token& stop) { run(stop, own); });
  }
}

Crowd::~Crowd() {
  for (auto& client : clients_) client.request_stop();
  clients_.clear();
}

Seen Crowd::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(seen_, {});
}

std::vector<std::string> Crowd::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

void Crowd::run(const std::stop_token& stop, unsigned seed) {
  std::mt19937_64 random(seed);
  std::unique_ptr<Client> client;
  Question last;
  while (!stop.stop_requested()) {
    auto next = question(random);
    if (next.proxy != last.proxy) client.reset();
    last = next;
    ask(client, next);
  }
}

Crowd::Question Crowd::question(std::mt19937_64& random) const {
  Question asked;
  asked.proxy = random() % 64 < 62 ? random() % 2 + 1 : 0;
  if (random() % 8 == 0) asked.proxy = 0;
  const auto kind = random() % 100;
  if (kind < 4) {
    asked.resource = World::kSmall + large_(random);
    const auto size = World::size_of(asked.resource);
    const auto first = random() % size;
    const auto last = std::min<std::uint64_t>(size - 1, first + random() % 700'000);
    if (kind > 0) {
      asked.fields = {{"Range", "bytes=" + std::to_string(first) + '-' + std::to_string(last)}};
    }
    return asked;
  }
  asked.resource = small_(random);
  if (kind < 8) asked.fields = {{"Cache-Control", "no-cache"}};
  if (kind == 8) asked.fields = {{"Cache-Control", "only-if-cached"}};
  asked.only_if_cached = kind == 8;
  return asked;
}

void Crowd::ask(std::unique_ptr<Client>& client, const Question& question) {
  const auto asked = Clock::now();
  try {
    if (!client) client = std::make_unique<Client>(fleet_.port(question.proxy));
    const auto url = origin_ + World::path_of(question.resource);
    const auto response = client->get(url, question.fields);
    judge(question, response, asked);
    if (!response.whole || support::contains(response.field("Connection"), "close")) client.reset();
  } catch (const std::exception& fault) {
    client.reset();
    if (!is_excused(question, asked)) return blame(question, fault.what());
    const std::lock_guard lock(mutex_);
    seen_.excused += 1;
  }
}

bool Crowd::is_excused(const Question& question, Clock::time_point asked) const {
  return fleet_.was_down_since(question.proxy, asked) || world_.failed_since(asked);
}

void Crowd::judge(const Question& question, const Response& response, Clock::time_point asked) {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - asked);
  const bool content = response.status == 200 || response.status == 206;
  const bool refused = response.status == 504 && question.only_if_cached;
  std::string fault;
  if (content) {
    fault = world_.fault_of(response, question.proxy, question.resource, asked);
  } else if (!refused) {
    fault = "is a " + std::to_string(response.status);
  }
  const bool whole_answer = content && response.whole;
  if (!fault.empty() && (whole_answer || !is_excused(question, asked))) {
    return blame(question, fault + ' ' + response.field("Cache-Status"));
  }
  const std::lock_guard lock(mutex_);
  seen_.answers += 1;
  seen_.excused += fault.empty() ? 0 : 1;
  seen_.hits += support::contains(response.field("Cache-Status"), "; hit") ? 1 : 0;
  seen_.times.push_back(took);
}

void Crowd::blame(const Question& question, const std::string& fault) {
  constexpr std::size_t kMost = 30;
  const std::lock_guard lock(mutex_);
  if (faults_.size() >= kMost) return;
  faults_.push_back(World::path_of(question.resource) + " of proxy " +
                    std::to_string(question.proxy) + ": " + fault);
}

}  // namespace soak
