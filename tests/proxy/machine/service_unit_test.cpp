#include "proxy/machine/service.hpp"

#include <gtest/gtest.h>

#include "proxy/machine/folders.hpp"

namespace proxy::machine {
namespace {

// As `systemctl show` of systemd 252 writes it.
constexpr std::string_view kShown =
    "ExecStart={ path=/usr/bin/hearsay ; argv[]=/usr/bin/hearsay serve --config /etc/h/h.json ; "
    "ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }\n"
    "User=hearsay\n"
    "AmbientCapabilities=cap_net_bind_service\n"
    "ReadWritePaths=/srv/cache -/mnt/late\n"
    "ReadOnlyPaths=/srv/cache/fixed\n"
    "InaccessiblePaths=\n"
    "PrivateTmp=yes\n"
    "ProtectHome=yes\n"
    "ProtectSystem=strict\n"
    "BindPaths=/disk/a:/data/a:rbind\n"
    "RuntimeDirectory=hearsay\n"
    "StateDirectory=\n"
    "CacheDirectory=hearsay\n"
    "LogsDirectory=hearsay\n"
    "LoadState=loaded\n";

TEST(ServiceUnit, IsReadFromWhatSystemctlShows) {
  const auto unit = parse_unit(kShown);
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->user, "hearsay");
  EXPECT_TRUE(unit->serves_by("/etc/h/h.json"));
  EXPECT_FALSE(unit->serves_by("/etc/h/other.json"));
  EXPECT_TRUE(unit->may_bind_any);
  EXPECT_FALSE(unit->has_socket);
  EXPECT_TRUE(parse_unit(std::string(kShown) + "ActiveState=active\n")->has_socket);
  EXPECT_FALSE(parse_unit("LoadState=not-found\nUser=\n"));
  EXPECT_FALSE(parse_unit(""));
}

TEST(ServiceUnit, LetsWriteWhereTheInnermostPlaceDoes) {
  const auto unit = parse_unit(kShown);
  ASSERT_TRUE(unit);
  struct Row {
    const char* path;
    bool is_writable;
    bool is_made;
  };
  for (const Row& row :
       {Row{"/srv", false, false}, Row{"/srv/cache", true, false},
        Row{"/srv/cache/a/b", true, false}, Row{"/srv/cached", false, false},
        Row{"/srv/cache/fixed/a", false, false}, Row{"/mnt/late", true, false},
        Row{"/data/a/x", true, false}, Row{"/disk/a", false, false},
        Row{"/var/cache/hearsay", true, true}, Row{"/var/cache/other", false, false},
        Row{"/var/log/hearsay/access.log", true, true},
        Row{"/run/hearsay/control.sock", true, true}, Row{"/tmp/x", true, false},
        Row{"/home/x", false, false}, Row{"/dev/x", true, false}}) {
    EXPECT_EQ(unit->lets_write(row.path), row.is_writable) << row.path;
    EXPECT_EQ(unit->makes(row.path), row.is_made) << row.path;
  }
}

TEST(ServiceUnit, LetsWriteEverywhereWithoutProtectSystem) {
  const auto unit = parse_unit("LoadState=loaded\nProtectSystem=no\nProtectHome=no\n");
  ASSERT_TRUE(unit);
  EXPECT_TRUE(unit->lets_write("/srv/cache"));
  const auto full = parse_unit("LoadState=loaded\nProtectSystem=full\n");
  EXPECT_FALSE(full->lets_write("/etc/hearsay"));
  EXPECT_FALSE(full->lets_write("/usr/x"));
  EXPECT_TRUE(full->lets_write("/srv/cache"));
}

TEST(OwnService, IsTheInnermostOfTheControlGroup) {
  EXPECT_EQ(service_in("0::/system.slice/hearsay-b.service\n"), "hearsay-b.service");
  EXPECT_EQ(service_in("0::/user.slice/user@1.service/app.slice/a.service/x\n"), "a.service");
  EXPECT_EQ(service_in("0::/init.scope\n"), "");
  EXPECT_EQ(service_in(""), "");
}

}  // namespace
}  // namespace proxy::machine
