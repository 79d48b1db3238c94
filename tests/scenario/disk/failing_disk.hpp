// A proxy whose disk can be made to fail.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {

using Steady = std::chrono::steady_clock;

// Preloads disk_faults into the programs that are started while this object lives.
class DiskFaults {
 public:
  DiskFaults() {
    ::setenv("LD_PRELOAD", HEARSAY_DISK_FAULTS_LIBRARY, 1);
    ::setenv("HEARSAY_DISK_FAULTS", home_.path().c_str(), 1);
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
  }
  ~DiskFaults() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("HEARSAY_DISK_FAULTS");
  }
  void begin(const char* fault) { write_file(home_ / fault, ""); }
  void end(const char* fault) { std::filesystem::remove(home_ / fault); }

 private:
  TemporaryDirectory home_;
};

class ADiskThatFails : public testing::Test {
 protected:
  ADiskThatFails() {
    scene_.origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
  }
  static std::vector<std::string> numbered_paths(int count) {
    std::vector<std::string> paths;
    for (int i = 0; i < count; ++i) paths.push_back('/' + std::to_string(i));
    return paths;
  }
  void store_on_disk(const std::vector<std::string>& paths) {
    for (const auto& path : paths) scene_.get(path);
    scene_.settle(paths.size());
    scene_.restart();
  }
  // Fetches the path, expects the right body, and returns the time taken.
  Steady::duration fetch(const std::string& path) {
    const auto begun = Steady::now();
    EXPECT_EQ(scene_.get(path).body, "of " + path);
    return Steady::now() - begun;
  }
  bool rests(std::string_view reason) {
    const auto resting = [&] { return scene_.health().at("state") == "resting"; };
    return await(resting) && contains(scene_.health().at("reason").get<std::string>(), reason) &&
           await([&] { return contains(scene_.proxy().process().errors(), reason); });
  }
  bool works() {
    return await([&] { return scene_.health().at("state") == "working"; }) &&
           await([&] { return contains(scene_.proxy().process().errors(), "is back"); });
  }

  DiskFaults faults_;
  DiskScene scene_;
};

}  // namespace scenario
