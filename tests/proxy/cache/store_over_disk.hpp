// A store in memory over a cache on disk, which a test can end and start again.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::cache {

class StoreOverDisk : public ::testing::Test {
 protected:
  // `reading`: which URLs a purge by prefix covers.
  explicit StoreOverDisk(disk::PurgeRules::Reading reading) : reading_(std::move(reading)) {
    begin();
  }

  // Ends the disk of before, if it was not stopped.
  void begin() {
    disk_.emplace(budget_, clock_, DiskLimits{.path = home_.path(), .bytes = 64 << 20}, reading_,
                  digest::unpredictable());
    EXPECT_TRUE(disk_->start());
    store_.emplace(budget_, StoreLimits{}, &disk_->disk().catalog().index);
  }
  void restart() {
    (void)disk_->stop();
    store_.reset();
    begin();
  }
  // Waits until all that was put is written.
  void settle() { ASSERT_TRUE(disk_->disk().queue().settle(std::chrono::seconds(10))); }

  const support::TemporaryDirectory home_;
  Budget budget_{64 << 20};
  machine::Clock clock_;
  std::optional<DiskTier> disk_;
  std::optional<Store> store_;
  const Time now_ = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());

 private:
  const disk::PurgeRules::Reading reading_;
};

}  // namespace proxy::cache
