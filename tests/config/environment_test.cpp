#include <gtest/gtest.h>

#include <cstdlib>

#include "config/load.hpp"

namespace config {
namespace {

class Environment : public testing::Test {
 protected:
  Environment() {
    ::setenv("HEARSAY_TEST_SITE", "oslo", 1);
    ::setenv("HEARSAY_TEST_4", "4", 1);
    ::setenv("HEARSAY_TEST_TRUE", "true", 1);
    ::setenv("HEARSAY_TEST_EMPTY", "", 1);
    ::unsetenv("HEARSAY_TEST_ABSENT");
  }
  static Settings loaded(std::string_view text) {
    auto settings = load(text);
    EXPECT_TRUE(settings.has_value())
        << settings.error().at(0).where << settings.error().at(0).what;
    return settings.has_value() ? *settings : Settings{};
  }
  static SettingsError error_of(std::string_view text) {
    const auto settings = load(text);
    EXPECT_TRUE(settings.has_error() && settings.error().size() == 1) << text;
    return settings.has_error() ? settings.error().at(0) : SettingsError{};
  }
};

TEST_F(Environment, StandsWithinTexts) {
  const auto settings = loaded(
      R"({"name":"a.${HEARSAY_TEST_SITE}","listen":["127.0.0.${HEARSAY_TEST_4}:312${HEARSAY_TEST_4}"],
          "log":{"access":"/a/$${b}/$c/${HEARSAY_TEST_SITE}${HEARSAY_TEST_EMPTY}"}})");
  EXPECT_EQ(settings.process.name, "a.oslo");
  EXPECT_EQ(settings.process.listen.at(0), (HostPort{"127.0.0.4", 3124}));
  EXPECT_EQ(settings.log.path, "/a/${b}/$c/oslo");
}

TEST_F(Environment, StandsForNumbersAndTruthsToo) {
  const auto settings = loaded(
      R"({"threads":"${HEARSAY_TEST_4}","cache":{"offline":"${HEARSAY_TEST_TRUE}"},
          "digest":{"check_sample":"0.${HEARSAY_TEST_4}"},
          "access":{"connect_ports":["${HEARSAY_TEST_4}43"]}})");
  EXPECT_EQ(settings.process.threads, 4U);
  EXPECT_TRUE(settings.cache.offline);
  EXPECT_EQ(settings.digest.samples.check, 0.4);
  EXPECT_EQ(settings.access.connect_ports.at(0), (PortRange{443, 443}));
  EXPECT_NE(error_of(R"({"threads":"4"})").what.find("found \"4\""), std::string::npos)
      << "a number is written as one";
  EXPECT_NE(error_of(R"({"threads":"${HEARSAY_TEST_SITE}"})").what.find("found \"oslo\""),
            std::string::npos);
}

TEST_F(Environment, NamesWhatIsNotSetAndWhere) {
  const auto absent =
      error_of("{\n \"cache\": {\"disk\": {\"path\": \"/${HEARSAY_TEST_ABSENT}\"}}}");
  EXPECT_EQ(absent.where, "line 2, column 29, cache.disk.path");
  EXPECT_NE(absent.what.find("HEARSAY_TEST_ABSENT is not set"), std::string::npos) << absent.what;
  for (const char* text : {"${", "${}", "${1A}", "${A B}", "${A"}) {
    const auto wrong = error_of(std::string("{\"name\":\"") + text + "\"}");
    EXPECT_NE(wrong.what.find("expected \"${NAME}\""), std::string::npos) << text << wrong.what;
  }
}

TEST_F(Environment, TakesNoMoreMemoryThanSettingsMay) {
  ::setenv("HEARSAY_TEST_LONG", std::string(60'000, 'x').c_str(), 1);
  std::string text;
  for (int i = 0; i < 5; ++i) text += "${HEARSAY_TEST_LONG}";
  EXPECT_NE(error_of("{\"name\":\"" + text + "\"}").what.find("more than settings"),
            std::string::npos);
  ::unsetenv("HEARSAY_TEST_LONG");
}

}  // namespace
}  // namespace config
