#include "proxy/check/try_out.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "proxy/machine/privileges.hpp"
#include "proxy/server/control_socket.hpp"
#include "tests/support/socket.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::check {
namespace {

using support::Listener;
using support::TemporaryDirectory;

bool has(const std::vector<std::string>& lines, std::string_view part) {
  for (const auto& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

config::Settings with_disk(const std::string& path) {
  config::Settings settings;
  settings.cache.disk = config::DiskSettings{path, config::mebibytes(64), config::Admit::first};
  return settings;
}

TEST(TryPlaces, FindsAFolderThatCanBeMade) {
  const TemporaryDirectory directory;
  CheckReport trial;
  try_places(with_disk(directory / "a/b"), nullptr, trial);
  EXPECT_TRUE(trial.warnings.empty());
  EXPECT_TRUE(has(trial.notes, "will be made"));
  EXPECT_FALSE(std::filesystem::exists(directory / "a")) << "it leaves no trace";
}

TEST(TryPlaces, WarnsOfWhatIsNoFolder) {
  const TemporaryDirectory directory;
  support::write_file(directory / "file", "x");
  CheckReport trial;
  auto settings = with_disk(directory / "file");
  settings.log = {config::LogTarget::file, directory / "absent/log", config::LogFormat::squid};
  try_places(settings, nullptr, trial);
  EXPECT_TRUE(has(trial.warnings, "file is no directory"));
  const bool is_root = ::geteuid() == 0;  // as root, the proxy makes the folder
  EXPECT_EQ(has(trial.warnings, "there is no directory"), !is_root);
  EXPECT_EQ(has(trial.notes, "absent will be made"), is_root);
  settings.log.path = directory / "file/log";
  try_places(settings, nullptr, trial);
  EXPECT_TRUE(has(trial.warnings, "file/log cannot be written by this user"));
  settings.cache.disk.reset();
  settings.log.path = directory.path();
  trial = {};
  try_places(settings, nullptr, trial);
  EXPECT_TRUE(has(trial.warnings, "it is a directory"));
}

TEST(TryPlaces, WarnsOfADiskThatIsTooSmall) {
  const TemporaryDirectory directory;
  auto settings = with_disk(directory.path());
  settings.cache.disk->size = config::ByteSize{1ULL << 49};
  CheckReport trial;
  try_places(settings, nullptr, trial);
  EXPECT_TRUE(has(trial.warnings, "has room for"));
}

TEST(TryPlaces, WarnsOfADiskThatOthersHaveFilled) {
  const TemporaryDirectory directory;
  const auto room = std::filesystem::space(directory.path());
  auto settings = with_disk(directory.path());
  settings.cache.disk->size = config::ByteSize{(room.available + room.capacity) / 2};
  CheckReport trial;
  try_places(settings, nullptr, trial);
  EXPECT_TRUE(has(trial.warnings, "has room for"));
}

TEST(TryPlaces, CountsWhatTheCacheHasAsItsRoom) {
  const TemporaryDirectory directory;
  constexpr std::uint64_t kHeld = 64 << 20;
  support::write_file(directory / "segment", std::string(kHeld, 'x'));
  auto settings = with_disk(directory.path());
  const auto room = std::filesystem::space(directory.path());
  settings.cache.disk->size = config::ByteSize{room.available + kHeld / 2};
  CheckReport trial;
  try_places(settings, nullptr, trial);
  EXPECT_FALSE(has(trial.warnings, "has room for"));
}

TEST(TryPlaces, WarnsOfAFolderThatOnlyTheKernelCanMake) {
  CheckReport trial;
  try_places(with_disk("/proc/cache"), nullptr, trial);
  EXPECT_TRUE(has(trial.warnings, "/proc is of the kernel"));
  EXPECT_TRUE(trial.notes.empty());
}

machine::ServiceUnit unit_that_writes(const std::filesystem::path& folder) {
  machine::ServiceUnit unit;
  unit.folders = {{"/", false, false}, {folder, true, true}};
  return unit;
}

TEST(TryPlaces, WarnsOfWhatSystemdKeepsReadOnlyForTheService) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "own");
  const auto unit = unit_that_writes(directory / "own");
  auto settings = with_disk(directory / "other");
  settings.log = {config::LogTarget::file, directory / "own/log", config::LogFormat::squid};
  CheckReport trial;
  try_places(settings, &unit, trial);
  ASSERT_EQ(trial.warnings.size(), 1u);
  EXPECT_TRUE(has(trial.warnings, "cache.disk.path: " + (directory / "other").native()));
  EXPECT_TRUE(has(trial.warnings, "ReadWritePaths=-" + (directory / "other").native()));
  EXPECT_TRUE(has(trial.warnings, "/etc/systemd/system/hearsay.service.d/"));
  trial = {};
  record_places_of(settings, unit, trial);
  EXPECT_TRUE(trial.warnings.empty());
  EXPECT_EQ(trial.notes.size(), 1u);
}

TEST(TryPlaces, ExpectsOfSystemdTheFoldersThatItMakes) {
  const auto unit = unit_that_writes("/nowhere/made");
  CheckReport trial;
  try_places(with_disk("/nowhere/made"), &unit, trial);
  EXPECT_EQ(trial, CheckReport{});
}

TEST(TryPorts, LeavesToSystemdWhatItDoesForTheService) {
  const Listener taken;
  config::Settings settings;
  settings.process.listen = {{"127.0.0.1", taken.port()}};
  machine::ServiceUnit unit;
  CheckReport trial;
  try_ports(settings, &unit, trial);
  EXPECT_EQ(trial.errors.size(), 1u);
  unit.has_socket = true;
  trial = {};
  try_ports(settings, &unit, trial);
  EXPECT_TRUE(trial.errors.empty());
}

// As the proxy does, which refuses to start.
TEST(TryControl, CallsAnErrorWhatIsInTheWayOfASocketThatTheSettingsName) {
  const TemporaryDirectory directory;
  support::write_file(directory / "file", "x");
  config::Settings settings;
  settings.process.user = "root";  // which makes no folder for another user
  const auto tried = [&](const std::string& path, bool runs = false) {
    settings.process.control = path;
    CheckReport trial;
    trial.runs = runs;
    try_control(settings, nullptr, trial);
    EXPECT_TRUE(trial.warnings.empty());
    return trial.errors;
  };
  EXPECT_TRUE(tried("").empty());
  EXPECT_TRUE(tried(directory / "a").empty());
  EXPECT_TRUE(has(tried(directory / "file"), "no socket is there"));
  EXPECT_TRUE(has(tried(directory / "file/a"), "file is no folder"));
  EXPECT_TRUE(has(tried(directory / "absent/a"), "there is no folder"));
  {
    settings.process.control = directory / "living";
    const server::ControlSocket living(settings);
    EXPECT_TRUE(has(tried(directory / "living"), "another proxy listens there"));
    EXPECT_TRUE(tried(directory / "living", true).empty()) << "it is its own";
  }
  EXPECT_TRUE(tried(directory / "living").empty());
}

TEST(TryUser, FindsAUserWhoIsMissingAndWarnsOfRootsRights) {
  const auto tried = [](const std::string& user) {
    config::Settings settings;
    settings.process.user = user;
    CheckReport trial;
    try_user(settings, trial);
    return trial;
  };
  EXPECT_TRUE(has(tried("no-such-user").errors, "user: there is no user no-such-user"));
  EXPECT_EQ(tried("root"), CheckReport{}) << "somebody means it";
  const bool keeps_root = ::geteuid() == 0 && !machine::account_of("hearsay");
  EXPECT_EQ(has(tried("").warnings, "keeps root's rights"), keeps_root);
}

TEST(TryPorts, CallsAnErrorAPortThatAnotherProgramHas) {
  const Listener taken;
  config::Settings settings;
  settings.process.listen = {{"127.0.0.1", taken.port()}, {"127.0.0.1", 0}, {"192.0.2.1", 3128}};
  CheckReport trial;
  try_ports(settings, nullptr, trial);
  ASSERT_EQ(trial.errors.size(), 2u);
  EXPECT_TRUE(has(trial.errors, "another program has this port"));
  EXPECT_TRUE(has(trial.errors, "192.0.2.1:3128 cannot be bound: "));
}

TEST(TryLimits, WarnsWhereMemoryOrDescriptorsFallShort) {
  const config::Settings settings;
  CheckReport trial;
  try_limits(settings, machine::MemoryLimit{1ULL << 33, ""}, {100'000, 100'000}, trial);
  EXPECT_TRUE(trial.warnings.empty());
  try_limits(settings, machine::MemoryLimit{150 << 20, "/sys/fs/cgroup/memory.max"}, {1024, 1024},
             trial);
  ASSERT_EQ(trial.warnings.size(), 2u);
  EXPECT_TRUE(has(trial.warnings, "there are 150 MiB (/sys/fs/cgroup/memory.max)"));
  EXPECT_TRUE(has(trial.warnings, "enough for 448 client connections"));
  trial = {};
  try_limits(settings, std::nullopt, {}, trial);
  EXPECT_TRUE(trial.warnings.empty()) << "nothing is known";
}

TEST(TryNames, WarnsOfANameThatDoesNotResolve) {
  config::Settings settings;
  config::PeerSettings peer;
  peer.host = "10.0.0.2";
  settings.peers.push_back(peer);
  peer.host = "nowhere.invalid";
  peer.place = 1;
  settings.peers.push_back(peer);
  peer.host = "localhost";
  settings.peers.push_back(peer);
  CheckReport trial;
  try_names(settings, trial);
  ASSERT_EQ(trial.warnings.size(), 1u);
  EXPECT_TRUE(has(trial.warnings, "peers[1].url: nowhere.invalid does not resolve: "));
}

TEST(Summary, SaysInALineWhatTheSettingsComeTo) {
  EXPECT_EQ(summary(config::Settings{}),
            "listens on 127.0.0.1:3128; 256 MiB of memory, no disk; 0 neighbours");
  auto settings = with_disk("/var/cache/a");
  settings.process.listen = {{"::", 80}, {"10.0.0.1", 81}};
  settings.peers.resize(1);
  settings.rules.resize(2);
  EXPECT_EQ(summary(settings),
            "listens on [::]:80, 10.0.0.1:81; 256 MiB of memory, 64 MiB in /var/cache/a; "
            "1 neighbour, 2 rules");
}

config::PeerSettings neighbour_at(const std::string& host, std::uint16_t port) {
  config::PeerSettings peer;
  peer.name = "b";
  peer.host = host;
  peer.port = port;
  peer.url = "http://" + host + ':' + std::to_string(port);
  return peer;
}

TEST(TryAccessOfNeighbours, WarnsOfThoseThatMayReadTheDigestAndAskForNothing) {
  config::Settings settings;
  settings.access.clients = *config::parse_networks("10.0.0.0/8");
  settings.access.peers = *config::parse_networks("10.1.0.0/16");
  settings.peers = {neighbour_at("10.0.0.2", 3128), neighbour_at("b.test", 3128)};
  CheckReport trial;
  try_access_of_neighbours(settings, trial);
  EXPECT_TRUE(trial.warnings.empty());

  settings.access.clients = *config::parse_networks("10.1.2.0/24");
  try_access_of_neighbours(settings, trial);
  EXPECT_TRUE(has(trial.warnings, "peers: b (10.0.0.2) may read our digest, but is not in"));
  EXPECT_TRUE(has(trial.warnings, "access.peers: 10.1.0.0/16 may read our digest"));
  EXPECT_EQ(trial.warnings.size(), 2U);

  settings.peers.front().role = config::Role::parent;
  settings.access.peers = *config::parse_networks("10.1.2.3");
  trial = {};
  try_access_of_neighbours(settings, trial);
  EXPECT_TRUE(trial.warnings.empty());
}

// What the check says of a neighbour that answers with these bytes.
CheckReport tried(const std::string& answer) {
  Listener listener;
  std::string asked;
  std::thread neighbour([&] {
    auto socket = listener.accept();
    if (!socket) return;
    while (asked.find("\r\n\r\n") == std::string::npos) asked += socket->read_some();
    socket->write(answer);
  });
  config::Settings settings;
  settings.peers = {neighbour_at("127.0.0.1", listener.port())};
  CheckReport trial;
  try_neighbours(settings, trial);
  listener.shut_down();
  neighbour.join();
  EXPECT_TRUE(asked.starts_with("GET http://")) << "in absolute-form";
  EXPECT_NE(asked.find("Cache-Control: only-if-cached\r\n"), std::string::npos);
  return trial;
}

TEST(TryNeighbours, WarnsOfOneThatRefusesUsAndOfOneThatIsNoProxy) {
  const std::string says_no = "HTTP/1.1 504 No\r\nVia: 1.1 b\r\nContent-Length: 0\r\n";
  EXPECT_TRUE(tried(says_no + "\r\n").warnings.empty());
  EXPECT_TRUE(tried("").warnings.empty()) << "it may be about to end";
  EXPECT_TRUE(has(
      tried(says_no + "Cache-Status: b; detail=\"refused/denied/access.clients\"\r\n\r\n").warnings,
      "peers[0]: b: refuses us: not in its access.clients"));
  EXPECT_TRUE(has(tried("HTTP/1.1 403 No\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\n\r\n").warnings,
                  "refuses us"));
  EXPECT_TRUE(has(tried("HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\nIt works!").warnings,
                  "names itself as no proxy"));
}

}  // namespace
}  // namespace proxy::check
