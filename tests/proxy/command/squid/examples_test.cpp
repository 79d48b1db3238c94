// Whole configurations: a stock one, and four as sites have them. Beside each stands what the
// import makes of it.
#include <filesystem>
#include <fstream>

#include "proxy/command/squid/import.hpp"
#include "tests/proxy/command/squid/given_files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::command::squid {
namespace {

// Files of the folder of the examples, whatever the current one is.
Files of_examples() {
  const auto system = system_files();
  const std::string folder = CONF_FOLDER;
  return {[=](const std::string& path) { return system.read(folder + path); },
          [=](const std::string& pattern) {
            auto paths = system.matching(folder + pattern);
            for (std::string& path : paths) path.erase(0, folder.size());
            return paths;
          }};
}

class SquidExample : public testing::TestWithParam<const char*> {};

// With UPDATE_EXAMPLES in the environment, writes down what the import makes of them.
TEST_P(SquidExample, BecomesTheSettingsAndTheReportBesideIt) {
  const std::string name = GetParam();
  const std::string path = CONF_FOLDER + name;
  const auto text = of_examples().read(name + ".conf");
  ASSERT_TRUE(text);
  // The website cannot start with what refuses by regular expressions.
  const auto denial = name == "website" ? Denial::less : Denial::more;
  const auto made = import(*text, name + ".conf", of_examples(), denial);
  if (std::getenv("UPDATE_EXAMPLES")) {
    support::write_file(path + ".json", made.settings);
    support::write_file(path + ".txt", report(made));
  }
  EXPECT_EQ(made.settings, support::read_file(path + ".json"));
  EXPECT_EQ(report(made), support::read_file(path + ".txt"));
  EXPECT_EQ(made.is_complete(), name == "debian");
  const auto settings = config::load(made.settings);
  EXPECT_TRUE(settings) << (settings ? "" : settings.error()[0].where + settings.error()[0].what);
}

INSTANTIATE_TEST_SUITE_P(Examples, SquidExample,
                         testing::Values("debian", "campus", "cvmfs", "packages", "website"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace proxy::command::squid
