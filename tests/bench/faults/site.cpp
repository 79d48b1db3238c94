#include "tests/bench/faults/site.hpp"

#include <csignal>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kOthersAfter = 300ms;
constexpr auto kSignalAfter = 200ms;
// The neighbours find out that a proxy was started again within so much time.
constexpr auto kPolls = 6s;
// As many as the kernel takes: a SYN that is dropped costs a second.
constexpr int kBacklog = 4096;

void append(std::vector<Sample>& all, std::vector<Sample> some) {
  all.insert(all.end(), some.begin(), some.end());
}

}  // namespace

SharingSite::SharingSite(const MeshOf& site, const Answer& origin)
    : origin_(origin, "", kBacklog), mesh_(site) {}

std::string SharingSite::url_of(std::size_t object, std::size_t bytes) const {
  return "http://127.0.0.1:" + std::to_string(origin_.port()) + "/" + std::to_string(object) + "." +
         std::to_string(bytes);
}

std::vector<Sample> SharingSite::ask_all(const std::vector<std::string>& urls) const {
  std::vector<std::vector<Sample>> samples(mesh_.size());
  std::vector<std::jthread> clients;
  for (std::size_t i = 0; i < mesh_.size(); ++i) {
    clients.emplace_back([&, i] {
      samples[i] = ask_openly(mesh_.port(i), urls, {1, urls.size(), urls.size()});
    });
  }
  clients.clear();
  std::vector<Sample> all;
  for (auto& some : samples) append(all, std::move(some));
  return all;
}

Shared SharingSite::ask(const NewObjects& objects) {
  const auto before = origin_.requests();
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < objects.number; ++i) {
    urls.push_back(url_of(objects_++, objects.bytes));
  }
  std::vector<Sample> all;
  if (objects.asked == NewObjects::Asked::all_at_once) all = ask_all(urls);
  if (objects.asked == NewObjects::Asked::one_by_one) {
    for (const auto& url : urls) append(all, ask_all({url}));
  }
  const auto requests = origin_.requests() - before;
  return {figures_of(all), static_cast<double>(requests) / static_cast<double>(objects.number)};
}

Shared SharingSite::lose_fetchers(std::size_t objects, int signal) {
  const auto before = origin_.requests();
  std::vector<Sample> all;
  for (std::size_t object = 0; object < objects; ++object) {
    const std::size_t first = object % mesh_.size();
    const std::vector<std::string> urls{url_of(objects_++, 2048)};
    std::vector<std::vector<Sample>> samples(mesh_.size());
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < mesh_.size(); ++i) {
      clients.emplace_back([&, i] {
        std::this_thread::sleep_for(i == first ? 0ms
                                               : kOthersAfter);  // the spread is the parameter
        samples[i] = ask_openly(mesh_.port(i), urls, {});
      });
    }
    // The time of the loss is the parameter.
    std::this_thread::sleep_for(kOthersAfter + kSignalAfter);
    const auto lost = steady_clock::now();
    mesh_.process(first).signal(signal);
    for (std::size_t i = 0; i < mesh_.size(); ++i) {
      if (i != first) clients[i].join();
    }
    recover(first, signal);
    clients.clear();
    samples[first].clear();
    for (auto& some : samples) append(all, std::move(some));
    for (auto& sample : std::span(all).last(mesh_.size() - 1)) {
      sample.ms = std::chrono::duration<double, std::milli>(sample.ended - lost).count();
    }
  }
  const auto requests = origin_.requests() - before;
  return {figures_of(all), static_cast<double>(requests) / static_cast<double>(objects)};
}

void SharingSite::recover(std::size_t proxy, int signal) {
  if (signal == SIGKILL) {
    mesh_.kill(proxy);
    mesh_.start(proxy);
  } else {
    mesh_.process(proxy).signal(SIGCONT);
  }
  // Until then the neighbours still take the proxy for the one that they knew.
  std::this_thread::sleep_for(kPolls);
  mesh_.await_complete();
}

}  // namespace bench
