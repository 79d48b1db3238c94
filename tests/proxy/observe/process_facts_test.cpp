#include "proxy/observe/process_facts.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;

TEST(ProcessFacts, SeesEachDescriptorThatIsOpen) {
  const ProcessFacts facts;
  const auto before = facts.read();
  ASSERT_TRUE(before.open_descriptors);
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(facts.read().open_descriptors, *before.open_descriptors + 1);
  ::close(fd);
  EXPECT_EQ(facts.read().open_descriptors, before.open_descriptors);
  EXPECT_GT(before.most_descriptors, before.open_descriptors);
}

TEST(ProcessFacts, KnowsTheMemoryAndTheProcessorTime) {
  const ProcessFacts facts;
  const auto reading = facts.read();
  EXPECT_GT(reading.resident_bytes, 1U << 20);
  EXPECT_GT(reading.processor_time.count(), 0);
}

TEST(ProcessFacts, AreToldByPrometheussNames) {
  const ProcessFacts facts;
  std::string text;
  append_process_metrics(text, facts, std::chrono::system_clock::time_point(1'700'000'000s));
  for (const char* const name :
       {"hearsay_build_info{version=\"", "\nprocess_start_time_seconds 1700000000\n",
        "\nprocess_open_fds ", "\nprocess_max_fds ", "\nprocess_resident_memory_bytes ",
        "\nprocess_cpu_seconds_total ", "\nhearsay_lock_waits_total "}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << text;
  }
}

}  // namespace
}  // namespace proxy::observe
