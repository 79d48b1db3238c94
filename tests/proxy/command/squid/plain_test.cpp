#include "proxy/command/squid/plain.hpp"

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
        PlainCase{"http_port 80 accel", R"("listen":["127.0.0.1:3128"])"},
        PlainCase{"http_port 10.0.0.1:80 ssl-bump cert=/x", R"("listen":["10.0.0.1:80"])"},
        PlainCase{"\xEF\xBB\xBFhttp_port 10.0.0.1:80", R"("listen":["10.0.0.1:80"])"},
        PlainCase{"visible_hostname a.example", R"("name":"a.example")"},
        PlainCase{"workers 3", R"("threads":3)"},
        PlainCase{"cache_mem 256 MB", R"("memory":"256MiB")"},
        PlainCase{"cache_mem 1GB", R"("memory":"1GiB")"},
        PlainCase{"cache_dir ufs /var/spool/squid 100 16 256",
                  R"("disk":{"path":"/var/spool/squid/hearsay","size":"100MiB"})"},
        PlainCase{"cache_dir ufs /a 100 16 256\ncache_dir rock /b 200",
                  R"("disk":{"path":"/b/hearsay","size":"200MiB"})"},
        PlainCase{"cache_dir ufs /a 100 16 256\nmaximum_object_size 5 GB",
                  R"("max_object":"5GiB")"},
        PlainCase{"maximum_object_size 9 MB\nmaximum_object_size_in_memory 512 KB",
                  R"("max_object":"512KiB")"},
        PlainCase{"cache_mem 8 MB\nmaximum_object_size 9 MB", R"("max_object":"8MiB")"},
        PlainCase{"access_log none", R"("log":{"access":"none"})"},
        PlainCase{"access_log stdio:/var/log/a squid", R"("log":{"access":"/var/log/a"})"},
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
        PlainCase{"delay_pools 1\ndelay_class 1 2\ndelay_parameters 1 -1/-1 65536/1000",
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
        PlainCase{"visible_hostname a/b", "left: a name"},
        PlainCase{"access_log syslog:local4.info", "left: log.access"},
        PlainCase{"access_log /a combined", "left: log.format"},
        PlainCase{"via off", "left: Via"},
        PlainCase{"forwarded_for off", "changed: "},
        PlainCase{"connect_timeout 3 days", "left: timeouts.connect is from 100ms"},
        PlainCase{"auth_param ntlm program /x", "left: users prove themselves by Basic"},
        PlainCase{"auth_param basic program /x/basic_ldap_auth -b y", "left: users are known"},
        PlainCase{"ssl_bump peek all", "left: TLS is not opened"},
        PlainCase{"url_rewrite_program /x", "left: no program changes URLs"},
        PlainCase{"delay_parameters 1 500/500\ndelay_class 1 1\ndelay_pools 1",
                  "left: a limit is 1KiB"},
        PlainCase{"icp_port 3130", "unneeded: "},
        PlainCase{"pid_filename /x", "unneeded: "},
        PlainCase{"frobnicate on", "left: is no directive of Squid that is known here"}}) {
    EXPECT_TRUE(has(told_of(imported(c.lines), 1), c.part)) << told_of(imported(c.lines), 1);
  }
}

TEST(SquidDirectives, AreCompleteWhereNoneIsLeftOut) {
  EXPECT_TRUE(imported("http_port 3128\nicp_port 0\nforwarded_for off").is_complete());
  EXPECT_FALSE(imported("via off").is_complete());
}

}  // namespace
}  // namespace proxy::command::squid
