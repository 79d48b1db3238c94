#include "proxy/command/squid/parts.hpp"

#include <fstream>

#include "tests/proxy/command/squid/given_files.hpp"

namespace proxy::command::squid {
namespace {

struct PlainCase {
  std::string_view lines, part;
};

TEST(SquidDirectives, BecomeTheSettingsThatAreTheirEqual) {
  for (const PlainCase& c :
       {PlainCase{"http_port 3128", R"("listen":["0.0.0.0:3128","[::]:3128"])"},
        PlainCase{"http_port 10.0.0.1:80\nhttp_port [::1]:8080 name=x",
                  R"("listen":["10.0.0.1:80","[::1]:8080"])"},
        PlainCase{"http_port 10.0.0.1:80 accel vhost", R"("listen":["10.0.0.1:80"])"},
        PlainCase{"http_port 10.0.0.1:80 ssl-bump cert=/x", R"("listen":["10.0.0.1:80"])"},
        PlainCase{"\xEF\xBB\xBFhttp_port 10.0.0.1:80", R"("listen":["10.0.0.1:80"])"},
        PlainCase{"visible_hostname a.example", R"("name":"a.example")"},
        PlainCase{"cache_mgr help@a.example", R"("contact":"help@a.example")"},
        PlainCase{"workers 3", R"("threads":3)"},
        PlainCase{"cache_mem 256 MB", R"("memory":"256MiB")"},
        PlainCase{"cache_mem 1GB", R"("memory":"1GiB")"},
        PlainCase{"cache_dir ufs /var/spool/squid 100 16 256",
                  R"("disk":{"path":"/var/cache/hearsay","size":"100MiB"})"},
        PlainCase{"cache_dir ufs /a 100 16 256\ncache_dir rock /b 200",
                  R"("disk":{"path":"/var/cache/hearsay","size":"200MiB"})"},
        PlainCase{"cache_dir ufs /a 100 16 256\nmaximum_object_size 5 GB",
                  R"("max_object":"5GiB")"},
        PlainCase{"maximum_object_size 9 MB\nmaximum_object_size_in_memory 512 KB",
                  R"("max_object":"512KiB")"},
        PlainCase{"cache_mem 8 MB\nmaximum_object_size 9 MB", R"("max_object":"8MiB")"},
        PlainCase{"access_log none", R"("log":{"access":"none"})"},
        PlainCase{"log_icp_queries off", R"("log":{"site_questions":false})"},
        PlainCase{"access_log stdio:/var/log/a squid",
                  R"("log":{"access":"/var/log/hearsay/access.log"})"},
        PlainCase{"access_log /dev/stdout", R"("log":{"access":"stdout"})"},
        PlainCase{"forwarded_for on", R"("forwarded":"append")"},
        PlainCase{"forwarded_for delete", R"("forwarded":"remove")"},
        PlainCase{"offline_mode on", R"("offline":true)"},
        PlainCase{"shutdown_lifetime 30 seconds\nconnect_timeout 1 minute",
                  R"("timeouts":{"drain":"30s","connect":"1m"})"},
        PlainCase{"request_header_max_size 32 KB\nrequest_timeout 5",
                  R"("timeouts":{"head":"5s"},"limits":{"head":"32KiB"})"},
        PlainCase{"delay_pools 1\ndelay_class 1 1\ndelay_parameters 1 64000/64000\ndelay_access 1 "
                  "allow all",
                  R"("limits":{"bandwidth":"64000B"})"},
        PlainCase{"client_ip_max_connections 20", R"("connections_per_client":20)"},
        PlainCase{"delay_pools 1\ndelay_class 1 2\ndelay_parameters 1 -1/-1 65536/1000\n"
                  "delay_access 1 allow all",
                  R"("limits":{"bandwidth_per_client":"64KiB"})"},
        PlainCase{"auth_param basic program /l/basic_ncsa_auth /etc/p\nauth_param basic realm A b",
                  R"("users":{"file":"/etc/p","realm":"A b"})"}}) {
    EXPECT_TRUE(has(settings_of(imported(c.lines)), c.part)) << settings_of(imported(c.lines));
  }
}

TEST(SquidDirectives, AreNamedWithTheReasonWhereTheyAreLeftOut) {
  for (const PlainCase& c :
       {PlainCase{"http_port 3128 intercept", "left: connections to other servers"},
        PlainCase{"http_port 3128 ssl-bump", "left: ssl-bump: TLS is not opened"},
        PlainCase{"http_port 3128 ssl-bump intercept", "left: connections to other servers"},
        PlainCase{"http_port", "left: is not complete"},
        PlainCase{"acl", "left: is not complete"},
        PlainCase{"acl lan", "left: is not complete"},
        PlainCase{"http_access", "left: says neither allow nor deny"},
        PlainCase{"http_port host.example:80", "left: listen takes an address"},
        PlainCase{"https_port 443 cert=/x", "left: listen has no TLS"},
        PlainCase{"cache_dir null /x", "left: "},
        PlainCase{"cache_dir ufs /x 10 16 256", "left: "},
        PlainCase{"cache_mem lots", "left: has no size"},
        PlainCase{"visible_hostname a/b", "left: name: expected a name of at most 64"},
        PlainCase{"access_log syslog:local4.info", "left: log.access"},
        PlainCase{"access_log /a combined", "left: log.format"},
        PlainCase{"via off", "left: Via"},
        PlainCase{"cache_mem 4 KB", "left: cache.memory: expected a size"},
        PlainCase{"offline_mode maybe", "left: its value is not known"},
        PlainCase{"forwarded_for off", "changed: "},
        PlainCase{"connect_timeout 3 days", "left: timeouts.connect: expected a time"},
        PlainCase{"auth_param ntlm program /x", "left: users prove themselves by Basic"},
        PlainCase{"auth_param basic program /x/basic_ldap_auth -b y", "left: users are known"},
        PlainCase{"ssl_bump peek all", "left: TLS is not opened"},
        PlainCase{"url_rewrite_program /x", "left: no program changes URLs"},
        PlainCase{
            "delay_parameters 1 500/500\ndelay_class 1 1\ndelay_pools 1\ndelay_access 1 allow all",
            "left: limits.bandwidth: expected a size (in B, KiB, MiB, GiB or TiB) from \"1KiB\""},
        PlainCase{"icp_port 3130", "unneeded: "},
        PlainCase{"pid_filename /x", "unneeded: "},
        PlainCase{"frobnicate on", "left: is no directive of Squid that is known here"}}) {
    EXPECT_TRUE(has(told_of(imported(c.lines), 1), c.part)) << told_of(imported(c.lines), 1);
  }
}

// The limits of the settings hold for all requests.
TEST(SquidDirectives, LimitNobodyWhoIsInNoDelayPool) {
  struct Case {
    std::string_view access, told;
  };
  for (const Case& c :
       {Case{"delay_access 1 allow big", "left: it is for the requests of"},
        Case{"delay_access 1 allow big\ndelay_access 1 deny all", "left: it is for"},
        Case{"delay_access 1 deny big\ndelay_access 1 allow all", "left: it is for"},
        Case{"if true\ndelay_access 1 allow all\nendif", "left: it is for"},
        Case{"delay_access 1 deny all", "unneeded: no request is in this pool"},
        Case{"delay_access 2 allow all", "unneeded: no request is in this pool"},
        Case{"", "unneeded: no request is in this pool"}}) {
    const auto import = imported(
        "delay_parameters 1 64000/64000\ndelay_pools 1\ndelay_class 1 1\n"
        "acl big dstdomain .downloads.example\n" +
        std::string(c.access));
    EXPECT_TRUE(has(told_of(import, 1), c.told)) << c.access << told_of(import, 1);
    EXPECT_FALSE(has(import.settings, "bandwidth")) << import.settings;
    EXPECT_EQ(import.is_complete(), !c.told.starts_with("left") && !has(c.access, "if true"));
  }
}

// Squid's other value is what Hearsay does, too.
TEST(SquidDirectives, AreLeftOutUnlessTheirValueIsWhatHearsayDoes) {
  struct Case {
    std::string_view other, same;
  };
  for (const Case& c :
       {Case{"prefer_direct on", "prefer_direct off"},
        Case{"dns_nameservers 9.9.9.9", ""},
        Case{"hosts_file /etc/squid/hosts", "hosts_file /etc/hosts"},
        Case{"append_domain .lan.example", ""},
        Case{"dns_defnames off", "dns_defnames on"},
        Case{"dns_multicast_local on", "dns_multicast_local off"},
        Case{"send_hit deny all", "send_hit allow all"},
        Case{"client_lifetime 1 hour", "client_lifetime  1 Day"},
        Case{"forward_timeout 1 minute", "forward_timeout 4 minutes"},
        Case{"half_closed_clients on", "half_closed_clients off"},
        Case{"retry_on_error on", "retry_on_error off"},
        Case{"minimum_object_size 4 KB", "minimum_object_size 0 KB"},
        Case{"cache_store_log /var/log/store", "cache_store_log none"},
        Case{"client_persistent_connections off", "client_persistent_connections on"},
        Case{"server_persistent_connections off", "server_persistent_connections on"},
        Case{"reload_into_ims on", "reload_into_ims off"},
        Case{"vary_ignore_expire on", "vary_ignore_expire off"},
        Case{"host_verify_strict on", "host_verify_strict off"},
        Case{"check_hostnames on", "check_hostnames off"},
        Case{"request_entities off", "request_entities on"},
        Case{"htcp_clr_access allow all", "htcp_clr_access deny all"},
        Case{"neighbor_type_domain a parent .example", ""},
        Case{"httpd_accel_surrogate_id a", ""},
        Case{"http_upgrade_request_protocols OTHER allow all", ""},
        Case{"configuration_includes_quoted_values on", "configuration_includes_quoted_values off"},
        Case{"ftp_port 2121", ""},
        Case{"url_rewrite_program /usr/bin/squidGuard", ""},
        Case{"maximum_object_size 0 KB", ""},
        Case{"auth_param basic casesensitive off", "auth_param basic casesensitive on"},
        Case{"client_ip_max_connections 0", "client_ip_max_connections -1"},
        Case{"store_miss deny many", "store_miss allow all"}}) {
    EXPECT_TRUE(has(told_of(imported(c.other), 1), "left: ")) << c.other;
    EXPECT_FALSE(has(told_of(imported(c.other), 1), "is no directive")) << c.other;
    EXPECT_TRUE(imported(c.same).is_complete()) << c.same;
  }
  EXPECT_TRUE(has(told_of(imported("url_rewrite_program /x"), 1), "what it refuses"));
  EXPECT_TRUE(has(told_of(imported("dns_nameservers 9.9.9.9"), 1), "/etc/resolv.conf"));
}

// Those that the documentation of Squid 5.7 names, obsolete ones included.
TEST(SquidDirectives, AreAllKnown) {
  std::ifstream names(CONF_FOLDER "directives.txt");
  std::size_t count = 0;
  for (std::string name; std::getline(names, name); ++count) {
    EXPECT_FALSE(has(told_of(imported(name + " x"), 1), "is no directive")) << name;
  }
  EXPECT_EQ(count, 384U);
}

TEST(SquidDirectives, AreCompleteWhereNoneIsLeftOut) {
  EXPECT_TRUE(imported("http_port 3128\nicp_port 0\nforwarded_for off").is_complete());
  EXPECT_FALSE(imported("via off").is_complete());
}

}  // namespace
}  // namespace proxy::command::squid
