#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>

#include "scene.hpp"

namespace proxy::cache::disk {
namespace {

using support::read_file;
using support::TemporaryDirectory;
using support::write_file;

// A cache of few and small segments.
Options tiny_options(const std::filesystem::path& path) {
  Options options = small_options(path);
  options.log.segment_bytes = 16 * 1024;
  return options;
}

// A cache that is large enough to reclaim nothing in a test.
Options roomy_options(const std::filesystem::path& path) {
  Options options = small_options(path);
  options.log.bytes = std::uint64_t{64} << 20;
  return options;
}

// The files of a cache as a crash leaves them: a copy while it is in use.
using Files = std::map<std::string, std::string>;

Files files_of(const std::filesystem::path& path) {
  Files files;
  for (const auto& file : std::filesystem::directory_iterator(path)) {
    if (file.path().extension() == ".segment") {
      files[file.path().filename()] = read_file(file.path());
    }
  }
  return files;
}

void lay_out(const Files& files, const std::filesystem::path& path) {
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  for (const auto& [name, bytes] : files) write_file(path / name, bytes);
}

TEST(DiskCrash, EveryCutOfTheTailLosesOnlyIncompleteRecords) {
  const TemporaryDirectory directory;
  std::vector<std::uint64_t> ends;
  Files files;
  {
    Scene scene(tiny_options(directory / "whole"));
    for (std::uint64_t i = 0; i < 6; ++i) {
      const auto at = scene.append(response(url_number(i), body_text(url_number(i), 5 + 9 * i)));
      ends.push_back(at->offset + kRecordHeaderBytes + url_number(i).size() + 6 + 5 + 9 * i);
    }
    files = files_of(directory / "whole");
  }
  ASSERT_EQ(files.size(), 1U);
  const std::string name = files.begin()->first;
  const std::string whole = files.begin()->second;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    lay_out({{name, whole.substr(0, size)}}, directory / "cut");
    Scene scene(tiny_options(directory / "cut"));
    for (std::uint64_t i = 0; i < 6; ++i) {
      const auto found = scene.body(url_number(i));
      ASSERT_EQ(found.has_value(), ends[i] <= size) << size;
      if (found) {
        ASSERT_EQ(*found, body_text(url_number(i), 5 + 9 * i));
      }
    }
    EXPECT_EQ(scene.loaded.damaged, 0U) << size;
  }
}

TEST(DiskCrash, AppendsBehindTheLastCompleteRecord) {
  const TemporaryDirectory directory;
  Files files;
  {
    Scene scene(tiny_options(directory / "whole"));
    for (std::uint64_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(scene.append(response(url_number(i), body_text(url_number(i), 300))));
    }
    files = files_of(directory / "whole");
  }
  std::string& tail = files.begin()->second;
  tail.resize(tail.size() - 100);
  lay_out(files, directory / "cut");
  for (std::uint64_t start = 0; start < 3; ++start) {
    Scene scene(tiny_options(directory / "cut"));
    EXPECT_EQ(scene.loaded.segments, 1U);
    EXPECT_EQ(scene.loaded.replayed, start == 0 ? 1U : 0U);
    ASSERT_TRUE(scene.append(response(url_number(10 + start), "after the crash")));
    EXPECT_EQ(*scene.body(url_number(3)), body_text(url_number(3), 300));
    EXPECT_FALSE(scene.body(url_number(4)));
    for (std::uint64_t i = 0; i <= start; ++i) {
      EXPECT_EQ(*scene.body(url_number(10 + i)), "after the crash");
    }
  }
}

// A flipped bit may lose the entry that it is in. No other entry may be lost, and no wrong byte
// found.
TEST(DiskCrash, AFlippedBitAtAThousandPlacesGivesNoWrongByte) {
  const TemporaryDirectory directory;
  constexpr std::uint64_t kEntries = 60;
  const auto text = [](std::uint64_t i) { return body_text(url_number(i), 100 + 17 * i); };
  std::map<std::uint64_t, Location> places;
  Files files;
  {
    Scene scene(tiny_options(directory / "whole"));
    for (std::uint64_t i = 0; i < kEntries; ++i) {
      places[i] = {.at = *scene.append(response(url_number(i), text(i)))};
      places[i].bytes = static_cast<std::uint32_t>(kRecordHeaderBytes + url_number(i).size() + 6 +
                                                   text(i).size());
    }
    files = files_of(directory / "whole");
  }
  ASSERT_GT(files.size(), 2U);
  std::mt19937 random(3);
  std::size_t lost_by_flips = 0;
  for (int round = 0; round < 1000; ++round) {
    auto damaged = files;
    const auto file = std::next(damaged.begin(), random() % files.size());
    const std::size_t byte = random() % file->second.size();
    file->second[byte] = static_cast<char>(file->second[byte] ^ 1 << random() % 8);
    lay_out(damaged, directory / "damaged");
    Scene scene(tiny_options(directory / "damaged"));
    const auto segment = static_cast<std::uint32_t>(std::stoul(file->first, nullptr, 16));
    for (std::uint64_t i = 0; i < kEntries; ++i) {
      auto found = scene.body(url_number(i));
      if (!found) {  // or a purge of a key with the same hash is under way
        ASSERT_TRUE(scene->queue().settle(kPatience));
        found = scene.body(url_number(i));
      }
      if (found) {
        ASSERT_EQ(*found, text(i)) << round;
        continue;
      }
      ++lost_by_flips;
      ASSERT_EQ(places[i].at.segment, segment) << round;
      const bool holds_it =
          places[i].at.offset <= byte && byte < places[i].at.offset + places[i].bytes;
      ASSERT_TRUE(holds_it) << round;
    }
  }
  EXPECT_GT(lost_by_flips, 700U);
}

// Runs in the other process: stores edition after edition of a few URLs, purges some, and reports
// what is done.
[[noreturn]] void store_until_killed(const std::filesystem::path& path, int edition, int told) {
  Scene scene(roomy_options(path));
  std::mt19937 random(static_cast<unsigned>(edition));
  while (true) {
    const auto number = random() % 30;
    int done = ++edition;
    if (random() % 8 == 0) {
      if (!scene.purge(key_for(url_number(number)))) ::_exit(1);
      done = -done;
    } else {
      const auto text = body_text(url_number(number), 200 + random() % 3000, edition);
      if (!scene.append(response(url_number(number), text))) ::_exit(2);
    }
    const int report[] = {static_cast<int>(number), done};
    if (::write(told, report, sizeof report) != sizeof report) ::_exit(3);
  }
}

// The body repeats its URL and edition: "http://test.example/7#12 ...".
int edition_of(const std::string& body, const std::string& url) {
  if (!body.starts_with(url + '#')) return -1;
  const int edition = std::stoi(body.substr(url.size() + 1));
  return body == body_text(url, body.size(), edition) ? edition : -1;
}

TEST(DiskCrash, EverythingReportedAsDoneSurvivesAKill) {
  const TemporaryDirectory directory;
  std::map<int, int> newest;  // edition, negative: purged
  int edition = 0;
  for (unsigned round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) store_until_killed(directory / "cache", edition, ends[1]);
    ::close(ends[1]);
    int report[2];
    for (unsigned reports = 0; reports < 20 + 37 * round; ++reports) {
      if (::read(ends[0], report, sizeof report) != sizeof report) break;
      newest[report[0]] = report[1];
    }
    ::kill(child, SIGKILL);
    while (::read(ends[0], report, sizeof report) == sizeof report) newest[report[0]] = report[1];
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);

    Scene scene(roomy_options(directory / "cache"));
    EXPECT_EQ(scene.loaded.damaged, 0U);
    int missing = 0;
    for (auto& [number, told] : newest) {
      edition = std::max(edition, std::abs(told));
      const std::string url = url_number(static_cast<std::uint64_t>(number));
      const auto body = scene.body(url);
      if (body) {
        EXPECT_GE(edition_of(*body, url), std::abs(told)) << "or what was about to be told";
      } else if (told > 0) {
        told = -told;
        ++missing;
      }
    }
    EXPECT_LE(missing, 1) << "a purge that was about to be told";
    edition += 1;
  }
}

TEST(DiskCrash, TellsAtItsStartWhatWasPurgedLately) {
  const TemporaryDirectory directory;
  const auto purged_before = [&](std::chrono::seconds ago) {
    for (const auto& file : std::filesystem::directory_iterator(directory.path())) {
      std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - ago);
    }
    return Scene(directory.path()).loaded.lately_purged;
  };
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), "one")));
  ASSERT_TRUE(scene.purge(key_for(url_number(1))));
  ASSERT_TRUE(scene.purge_prefix("http://a.test/"));
  scene.stop();
  const auto purged = purged_before(std::chrono::seconds(50));
  EXPECT_EQ(purged.keys, std::vector<Key>{key_for(url_number(1))});
  EXPECT_EQ(purged.prefixes, std::vector<std::string>{"http://a.test/"});
  EXPECT_TRUE(purged_before(std::chrono::seconds(70)).keys.empty());
}

}  // namespace
}  // namespace proxy::cache::disk
