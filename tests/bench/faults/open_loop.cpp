#include "tests/bench/faults/open_loop.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>

#include "tests/support/client.hpp"

namespace bench {
namespace {

using std::chrono::steady_clock;

std::size_t size_of(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? 2048 : std::stoul(path.substr(dot + 1));
}

void judge(const support::Response& response, const std::string& url, Sample& sample) {
  sample.failed = response.status != 200 || !response.whole;
  sample.wrong = !sample.failed && response.body != body_of(support::path_of(url));
  sample.giver = giver_of(response);
}

// One connection, reopened after a failure.
class Asker {
 public:
  explicit Asker(std::uint16_t proxy) : proxy_(proxy) {}

  void ask(const std::string& url, const support::Fields& fields, steady_clock::time_point due,
           Sample& sample) {
    try {
      if (!client_) client_ = std::make_unique<support::Client>(proxy_);
      const auto response = client_->get(url, fields);
      sample.ended = steady_clock::now();
      judge(response, url, sample);
    } catch (const std::exception&) {
      client_.reset();
      sample.failed = true;
      sample.ended = steady_clock::now();
    }
    sample.due = due;
    sample.ms = std::chrono::duration<double, std::milli>(sample.ended - due).count();
  }

 private:
  const std::uint16_t proxy_;
  std::unique_ptr<support::Client> client_;
};

}  // namespace

std::string body_of(const std::string& path) {
  const std::size_t size = size_of(path);
  std::string body = path + ' ';
  while (body.size() < size) body += body;
  body.resize(size);
  return body;
}

// Its Cache-Status is such as: a; fwd=uri-miss; stored; detail="peer/b".
std::string giver_of(const support::Response& response) {
  constexpr std::string_view kPeer = "peer/";
  const std::string status = response.field("Cache-Status");
  const auto begin = status.rfind(kPeer);
  if (begin == std::string::npos) return "";
  const std::string rest = status.substr(begin + kPeer.size());
  return rest.substr(0, rest.find_first_of("\" "));
}

std::vector<Sample> ask_openly(std::uint16_t proxy, const std::vector<std::string>& urls, Pace pace,
                               const FieldsFor& fields_for) {
  std::vector<Sample> samples(urls.size());
  std::atomic<std::size_t> next = 0;
  const auto begun = steady_clock::now();
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(pace.clients, urls.size()); ++i) {
    threads.emplace_back([&] {
      Asker asker(proxy);
      for (std::size_t n = next++; n < urls.size(); n = next++) {
        const std::size_t ahead = n / pace.burst * pace.burst;
        const std::chrono::duration<double> offset(static_cast<double>(ahead) / pace.rate);
        const auto due = begun + std::chrono::duration_cast<steady_clock::duration>(offset);
        std::this_thread::sleep_until(due);
        asker.ask(urls[n], fields_for ? fields_for(n) : support::Fields(), due, samples[n]);
      }
    });
  }
  threads.clear();
  return samples;
}

Figures figures_of(const std::vector<Sample>& samples) {
  if (samples.empty()) return {};
  std::vector<double> ms;
  Figures figures;
  for (const Sample& sample : samples) {
    ms.push_back(sample.ms);
    figures.over_100_ms += sample.ms > 100 ? 1 : 0;
    figures.wrong += sample.wrong ? 1 : 0;
    figures.failed += sample.failed ? 1 : 0;
  }
  std::sort(ms.begin(), ms.end());
  const auto at = [&ms](std::size_t percent) { return ms[(ms.size() - 1) * percent / 100]; };
  figures.p50 = at(50);
  figures.p98 = at(98);
  figures.p99 = at(99);
  figures.max = ms.back();
  return figures;
}

}  // namespace bench
