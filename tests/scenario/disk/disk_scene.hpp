// One origin, and a proxy with a cache on disk that can be ended and started again.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "tests/scenario/scene.hpp"

namespace scenario {

class DiskScene {
 public:
  explicit DiskScene(const json& more = json::object()) {
    settings_["name"] = "cache-a";
    settings_["cache"] = {{"disk", {{"path", directory().string()}, {"size", "64MiB"}}}};
    settings_.merge_patch(more);
    begin();
  }

  std::filesystem::path directory() const { return home_ / "cache"; }

  void begin() { proxy_.emplace(settings_); }
  void restart() {
    EXPECT_EQ(proxy_->terminate(), 0) << proxy_->process().errors();
    begin();
  }
  // Ends the proxy like a crash.
  void kill() {
    proxy_->process().signal(SIGKILL);
    proxy_->process().wait();
    proxy_.reset();
  }
  void crash() {
    kill();
    begin();
  }
  void end() {
    EXPECT_EQ(proxy_->terminate(), 0);
    proxy_.reset();
  }

  ProxyProcess& proxy() { return *proxy_; }
  double disk(std::string_view metric) const {
    return proxy_->metric("hearsay_disk_" + std::string(metric));
  }
  // Waits until the disk has written so many records.
  void settle(std::size_t records) const {
    EXPECT_TRUE(await([&] { return disk("stored_total") >= static_cast<double>(records); }))
        << disk("stored_total") << " of " << records << " records are written";
  }

  Response get(const std::string& path, const Fields& fields = {}) {
    return ask("GET", path, fields);
  }
  Response ask(std::string_view method, const std::string& path, const Fields& fields = {},
               std::string_view body = {}) {
    Client client(proxy_->port());
    return client.request(method, origin.url(path), fields, body);
  }
  bool holds(const std::string& path, const Fields& fields = {}) {
    Fields only = fields;
    only.emplace_back("Cache-Control", "only-if-cached");
    return get(path, only).status == 200;
  }
  // The result of the last request for the path, as the log has it.
  std::string how(const std::string& path) { return proxy_->logged(origin.url(path)).result; }
  json health() { return json::parse(proxy_->page("/health").body).value("disk", json::object()); }

  ScriptedOrigin origin;

 private:
  TemporaryDirectory home_;
  json settings_;
  std::optional<ProxyProcess> proxy_;
};

}  // namespace scenario
