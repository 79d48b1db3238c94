// What a client of mirrors fetches four times from two proxies that are neighbours, each time with
// nothing of its own: twice through the first, then through the second, then again through the
// second while its servers are away. Prints a row for the table in config/README.md.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <list>
#include <string>
#include <vector>

#include "tests/scenario/mirrors/mirror_scene.hpp"
#include "tests/support/child_process.hpp"

namespace interop {

using namespace support;

// What the servers sent for one fetch.
struct Sent {
  std::size_t requests = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Sent&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Sent& sent) {
  return out << sent.requests << " requests, " << sent.bytes << " bytes";
}

// Where a client finds the proxy, and an empty folder.
struct Place {
  const ProxyProcess& proxy;
  std::filesystem::path folder;
};

class FourFetches {
 public:
  // `servers`: all that the client's requests may lead to. `leave`: they refuse connections then.
  FourFetches(const json& settings, std::vector<const ScriptedOrigin*> servers,
              std::function<void()> leave)
      : a_(with_peer("b", at_b_.port(), on_disk("a", settings)), at_a_),
        b_(with_peer("a", at_a_.port(), on_disk("b", settings)), at_b_),
        servers_(std::move(servers)),
        leave_(std::move(leave)) {}

  // `fetch` returns what the client has got, which is to be `content` each time.
  std::array<Sent, 4> run(const std::string& client, const std::string& content,
                          const std::function<std::string(const Place&)>& fetch) {
    std::array<Sent, 4> sent;
    std::cout << "| " << client;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (i == 2) await_claims();
      if (i == 3) leave_();
      const auto& proxy = i < 2 ? a_ : b_;
      const auto before = sent_so_far();
      const auto begun = std::chrono::steady_clock::now();
      const TemporaryDirectory folder;
      EXPECT_TRUE(fetch({proxy, folder.path()}) == content) << client << ", fetch " << i;
      sent[i] = {sent_so_far().requests - before.requests, sent_so_far().bytes - before.bytes};
      print(sent[i], std::chrono::steady_clock::now() - begun);
    }
    std::cout << " |\n";
    return sent;
  }

  const ProxyProcess& first() const { return a_; }
  const ProxyProcess& second() const { return b_; }

 private:
  json on_disk(const char* name, json settings) const {
    settings["name"] = name;
    settings["cache"]["disk"] = {{"path", disks_ / name}, {"size", "200MiB"}};
    return settings;
  }
  // The neighbour has learnt what there is to learn.
  void await_claims() const {
    const auto entries = [this] {
      const auto known = b_.digest_peer("a").at("entries");
      return known.is_number() ? known.get<int>() : 0;
    };
    if (!await([&] { return entries() > 0; })) throw TimedOut(b_.digest_peer("a").dump(2));
    await_halt(entries);
  }
  Sent sent_so_far() const {
    Sent all;
    for (const auto* server : servers_) {
      all.requests += server->count();
      all.bytes += server->body_bytes_sent();
    }
    return all;
  }
  static void print(const Sent& sent, std::chrono::duration<double> took) {
    std::cout << " | " << sent.requests << ", " << (sent.bytes + 512) / 1024 << " KiB, "
              << std::lround(took.count() * 1000) << " ms";
  }

  TemporaryDirectory disks_;
  Listener at_a_;
  Listener at_b_;
  ProxyProcess a_;
  ProxyProcess b_;
  std::vector<const ScriptedOrigin*> servers_;
  std::function<void()> leave_;
};

// The lines that config/clients has for a client, with other hosts in place of those of its
// example.
inline std::string client_lines(
    const std::string& client,
    const std::vector<std::pair<std::string, std::string>>& in_place_of) {
  auto text = read_file(std::filesystem::path(HEARSAY_CONFIG_DIRECTORY) / "clients" / client);
  EXPECT_FALSE(text.empty()) << client;
  for (const auto& [example, real] : in_place_of) {
    for (auto at = text.find(example); at != std::string::npos;
         at = text.find(example, at + real.size()))
      text.replace(at, example.size(), real);
  }
  return text;
}

// Runs a client, and throws what it wrote unless it ends with success.
inline Outcome run_client(Command command) {
  command.environment.insert(command.environment.end(), {"http_proxy=", "https_proxy="});
  const auto outcome = run_to_end(command, std::chrono::seconds(60));
  if (outcome.exit_code != 0)
    throw std::runtime_error(command.arguments[0] + ": " + outcome.output + outcome.errors);
  return outcome;
}

// What curl gets of the URL's `size` bytes by so many ranges at once, put together.
inline std::string curl_in_ranges(const std::string& url, std::size_t size, std::size_t ranges) {
  std::list<ChildProcess> all;
  for (std::size_t i = 0; i < ranges; ++i) {
    const auto range =
        std::to_string(size * i / ranges) + '-' + std::to_string(size * (i + 1) / ranges - 1);
    all.emplace_back(Command{{"/usr/bin/curl", "--silent", "--fail", "--range", range, url}});
  }
  std::string whole;
  for (auto& one : all) {
    EXPECT_EQ(one.wait(), 0);
    whole += one.output();
  }
  return whole;
}

// Bytes that no compression makes shorter, the same for the same seed (xorshift64).
inline std::string noise(std::size_t size, std::uint64_t seed) {
  auto word = seed * 2 + 1;
  std::string bytes(size + sizeof word, '\0');
  for (std::size_t at = 0; at < size; at += sizeof word) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    std::memcpy(&bytes[at], &word, sizeof word);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace interop
