// Mistakes that people make in settings, and what each is told: the place, the cause, the cure.
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

struct Mistake {
  std::string_view text;
  std::string_view where;
  std::string_view what;  // all of it
};

void expect_told(std::initializer_list<Mistake> mistakes) {
  for (const Mistake& each : mistakes) {
    const auto settings = load(each.text);
    ASSERT_FALSE(settings.has_value()) << each.text;
    ASSERT_EQ(settings.error().size(), 1U) << each.text;
    EXPECT_EQ(settings.error().front().where, each.where) << each.text;
    EXPECT_EQ(settings.error().front().what, each.what) << each.text;
  }
}

TEST(Mistakes, OfFormAreToldWithPlaceCauseAndCure) {
  expect_told({
      {"name: cache-a\nlisten:\n  - 127.0.0.1:3128\n", "line 1, column 1",
       "this is no JSON (YAML, or another form, perhaps); the settings are one object in braces, "
       "such as { \"name\": \"cache-a\" }"},
      {"---\nname: a\n", "line 1, column 1",
       "this is no JSON (YAML, or another form, perhaps); the settings are one object in braces, "
       "such as { \"name\": \"cache-a\" }"},
      {"[server]\nname = \"a\"\n", "line 1, column 1",
       "this is no JSON (YAML, or another form, perhaps); the settings are one object in braces, "
       "such as { \"name\": \"cache-a\" }"},
      {"name = a\n", "line 1, column 1",
       "this is no JSON (YAML, or another form, perhaps); the settings are one object in braces, "
       "such as { \"name\": \"cache-a\" }"},
      {"{\"name\": \"caf\351\"}", "line 1, column 14",
       "the byte 0xE9 is no UTF-8 (Latin-1, perhaps); save the file as UTF-8"},
      {"{\n  \"cache\": { \"memory\": \"64MiB\",\n  \"listen\": [\"127.0.0.1:3128\"]\n}\n",
       "line 2, column 12",
       "this { is not closed: the } of line 4 is meant for what is around it; add a } behind the "
       "last item in it"},
      {"{\n  \"listen\": [\"127.0.0.1:3128\"\n", "line 2, column 13",
       "this [ is not closed; add a ] behind the last item in it"},
      {"{\"name\": \"a\tb\"}", "line 1, column 12", "a tab in a text is written \\t"},
      {"{\"threads\": 1e999}", "line 1, column 13",
       "the number \"1e999\" is too long for any setting"},
      {"{\"threads\": 007}", "line 1, column 13",
       "\"007\" is no number; write it like 7, -7 or 0.5"},
      {"{\"threads\": +1}", "line 1, column 13", "\"+1\" is no number; write it like 7, -7 or 0.5"},
      {"{\"threads\": 0x10}", "line 1, column 13", "a text is written in double quotes: \"0x10\""},
      {"{\"threads\": .5}", "line 1, column 13", "\".5\" is no number; write it like 7, -7 or 0.5"},
      {"{\"name\": \"\\u12\"}", "line 1, column 11",
       "four hexadecimal digits follow \\u, as in \"\\u00e9\""},
      {"{\"name\": \"\\ud800\"}", "line 1, column 11",
       "this is half a character; write the character itself"},
      {"{\"threads\": 5.}", "line 1, column 13", "\"5.\" is no number; write it like 7, -7 or 0.5"},
      {"{\"name\": \"a\" \"threads\": 2}", "line 1, column 13",
       "a comma is missing here, after \"a\""},
      {"{\"threads\": 2,}", "line 1, column 14", "no comma may stand before \"}\"; take it out"},
      {"{'threads': 2}", "line 1, column 2",
       "a text is written in double quotes, not in single ones"},
      {"{\"sandbox\": True}", "line 1, column 13", "write true"},
      {"", "line 1, column 1", "is empty; the least settings are {}"},
      {"  \n", "line 2, column 1", "is empty; the least settings are {}"},
      {"<settings/>", "line 1, column 1",
       "this is no JSON (YAML, or another form, perhaps); the settings are one object in braces, "
       "such as { \"name\": \"cache-a\" }"},
      {"{\"threads\": 2 # two\n}", "line 1, column 15", "a comment begins with //, not with #"},
      {"null", "line 1, column 1", "expected an object in braces; found null"},
      {"[]", "line 1, column 1", "expected an object in braces; found a list"},
      {"\"a\"", "line 1, column 1", "expected an object in braces; found \"a\""},
      {"{\"threads\": NaN}", "line 1, column 13", "a text is written in double quotes: \"NaN\""},
      {"{\"threads\": 2}}", "line 1, column 15", "one } too many"},
      {"{\"threads\": - 1}", "line 1, column 13", "\"-\" is no number; write it like 7, -7 or 0.5"},
  });
}

TEST(Mistakes, OfSettingsAreToldWithPlaceCauseAndCure) {
  expect_told({
      {"{\"listem\": []}", "line 1, column 2, listem",
       "is not a setting; did you mean \"listen\"?"},
      {"{\"listen\": \"127.0.0.1:3128\"}", "line 1, column 12, listen",
       "expected a list of addresses, such as \"127.0.0.1:3128\"; found \"127.0.0.1:3128\""},
      {"{\"listen\": 3128}", "line 1, column 12, listen",
       "expected a list of addresses, such as \"127.0.0.1:3128\"; found the number 3128"},
      {"{\"listen\": [\"3128\"]}", "line 1, column 13, listen[0]",
       "expected an address and a port, such as \"127.0.0.1:3128\" or \"[::]:3128\"; found "
       "\"3128\"; write \"127.0.0.1:3128\" for this machine alone, or \"0.0.0.0:3128\" for all of "
       "its addresses"},
      {"{\"listen\": []}", "line 1, column 12, listen",
       "expected at least one address; found none"},
      {"{\"listen\": [\":3128\"]}", "line 1, column 13, listen[0]",
       "expected an address and a port, such as \"127.0.0.1:3128\" or \"[::]:3128\"; found "
       "\":3128\"; write \"127.0.0.1:3128\" for this machine alone, or \"0.0.0.0:3128\" for all of "
       "its addresses"},
      {"{\"listen\": [\"0.0.0.0\"]}", "line 1, column 13, listen[0]",
       "expected an address and a port, such as \"127.0.0.1:3128\" or \"[::]:3128\"; found "
       "\"0.0.0.0\""},
      {"{\"listen\": [\"localhost:3128\"]}", "line 1, column 13, listen[0]",
       "expected an address and a port, such as \"127.0.0.1:3128\" or \"[::]:3128\"; found "
       "\"localhost:3128\"; did you mean \"127.0.0.1:3128\"?"},
      {"{\"listen\": [\"127.0.0.1:99999\"]}", "line 1, column 13, listen[0]",
       "expected an address and a port, such as \"127.0.0.1:3128\" or \"[::]:3128\"; found "
       "\"127.0.0.1:99999\""},
      {"{\"listen\": [\"127.0.0.1:3128\", \"127.0.0.1:3128\"]}", "line 1, column 31, listen[1]",
       "is listed twice; take one out"},
      {"{\"listen\": [\"http://127.0.0.1:3128\"]}", "line 1, column 13, listen[0]",
       "expected an address and a port, such as \"127.0.0.1:3128\" or \"[::]:3128\"; found "
       "\"http://127.0.0.1:3128\""},
      {"{\"name\": \"my cache\"}", "line 1, column 10, name",
       "expected a name of at most 64 letters, digits, '-', '.' or '_'; found \"my cache\""},
      {"{\"name\": \"\"}", "line 1, column 10, name",
       "expected a name of at most 64 letters, digits, '-', '.' or '_'; found \"\""},
      {"{\"threads\": \"4\"}", "line 1, column 13, threads",
       "expected a whole number from 0 to 1024; found \"4\""},
      {"{\"threads\": -1}", "line 1, column 13, threads",
       "expected a whole number from 0 to 1024; found the number -1"},
      {"{\"threads\": 2.5}", "line 1, column 13, threads",
       "expected a whole number from 0 to 1024; found the number 2.5"},
      {"{\"threads\": 100000}", "line 1, column 13, threads",
       "expected a whole number from 0 to 1024; found the number 100000"},
      {"{\"cache\": \"256MiB\"}", "line 1, column 11, cache",
       "expected an object in braces; found \"256MiB\""},
      {"{\"cache\": {\"memory\": 256}}", "line 1, column 22, cache.memory",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1MiB\" to \"16TiB\", written like "
       "\"256MiB\"; found the number 256; say the unit: \"256MiB\" or another"},
      {"{\"cache\": {\"memory\": \"256\"}}", "line 1, column 22, cache.memory",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1MiB\" to \"16TiB\", written like "
       "\"256MiB\"; found \"256\"; say the unit: \"256MiB\" or another"},
      {"{\"cache\": {\"memory\": \"256 MB\"}}", "line 1, column 22, cache.memory",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1MiB\" to \"16TiB\", written like "
       "\"256MiB\"; found \"256 MB\"; write \"256MiB\""},
      {"{\"cache\": {\"memory\": \"lots\"}}", "line 1, column 22, cache.memory",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1MiB\" to \"16TiB\", written like "
       "\"256MiB\"; found \"lots\""},
      {"{\"cache\": {\"memory\": \"1KiB\"}}", "line 1, column 22, cache.memory",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1MiB\" to \"16TiB\", written like "
       "\"256MiB\"; found \"1KiB\""},
      {"{\"cache\": {\"disk\": \"/var/cache/hearsay\"}}", "line 1, column 20, cache.disk",
       "expected an object in braces; found \"/var/cache/hearsay\""},
      {"{\"cache\": {\"disk\": {\"path\": \"/c\"}}}", "line 1, column 20, cache.disk",
       "\"size\" is missing; add it"},
      {"{\"cache\": {\"disk\": {\"path\": \"c\", \"size\": \"1MiB\"}}}",
       "line 1, column 42, cache.disk.size",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"64MiB\" to \"1024TiB\", written like "
       "\"256MiB\"; found \"1MiB\""},
      {"{\"cache\": {\"disk\": {\"path\": \"/c\", \"size\": \"1GiB\", \"admit\": \"third\"}}}",
       "line 1, column 60, cache.disk.admit", "expected \"first\" or \"second\"; found \"third\""},
      {"{\"cache\": {\"max_object\": \"0B\"}}", "line 1, column 26, cache.max_object",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1B\" to \"256MiB\", written like "
       "\"256MiB\"; found \"0B\""},
      {"{\"cache\": {\"stale_if_error\": 3600}}", "line 1, column 30, cache.stale_if_error",
       "expected a time (in ms, s, m, h, d or w) from \"0ms\" to \"365d\", written like \"250ms\"; "
       "found the number 3600; say the unit: \"3600s\" or another"},
      {"{\"cache\": {\"stale_if_error\": \"1 hour\"}}", "line 1, column 30, cache.stale_if_error",
       "expected a time (in ms, s, m, h, d or w) from \"0ms\" to \"365d\", written like \"250ms\"; "
       "found \"1 hour\"; write \"1h\""},
      {"{\"cache\": {\"offline\": \"yes\"}}", "line 1, column 23, cache.offline",
       "expected true or false; found \"yes\""},
      {"{\"memory\": \"256MiB\"}", "line 1, column 2, memory",
       "is not a setting; known here: \"name\", \"listen\", \"threads\", \"user\", \"sandbox\", "
       "\"control\", \"cache\", \"digest\", \"peers\", \"never_direct\", \"pac_fallback\", "
       "\"reverse\", \"mirrors\", "
       "\"forwarded\", \"forwarded_drop\", \"forwarded_pass\", \"forward\", \"rules\", \"access\", "
       "\"log\", \"timeouts\", \"limits\", \"contact\", \"pages\" or \"include\""},
      {"{\"peers\": {\"url\": \"http://b:3128\"}}", "line 1, column 11, peers",
       "expected a list of objects, each with a \"url\"; found an object"},
      {"{\"peers\": [\"http://b:3128\"]}", "line 1, column 12, peers[0]",
       "expected an object in braces; found \"http://b:3128\""},
      {"{\"peers\": [{}]}", "line 1, column 12, peers[0]",
       "expected \"url\", a URL like \"http://10.0.0.2:3128\", without path or user; it is "
       "missing"},
      {"{\"peers\": [{\"url\": \"b:3128\"}]}", "line 1, column 20, peers[0].url",
       "expected a URL like \"http://10.0.0.2:3128\", without path or user; found \"b:3128\""},
      {"{\"peers\": [{\"url\": \"http://b:3128/x\"}]}", "line 1, column 20, peers[0].url",
       "expected a URL like \"http://10.0.0.2:3128\", without path or user; found "
       "\"http://b:3128/x\""},
      {"{\"peers\": [{\"url\": \"http://b:3128\", \"role\": \"peer\"}]}",
       "line 1, column 45, peers[0].role", "expected \"sibling\" or \"parent\"; found \"peer\""},
      {"{\"peers\": [{\"url\": \"http://b:3128\", \"digest\": \"yes\"}]}",
       "line 1, column 47, peers[0].digest",
       "expected \"auto\", \"squid\", \"none\" or \"native\"; found \"yes\""},
      {"{\"peers\": [{\"url\": \"http://b:3128\"}, {\"url\": \"http://b:3128\"}]}",
       "line 1, column 38, peers[1]",
       "has the same host and port as peers[0]; take one of the two out"},
      {"{\"peers\": [{\"url\": \"http://b:3128\", \"weight\": 2}]}",
       "line 1, column 47, peers[0].weight",
       "is for parents, and this peer is a sibling; leave it out"},
      {"{\"peers\": [{\"url\": \"http://b:3128\", \"login\": \"me\"}]}",
       "line 1, column 46, peers[0].login",
       "expected \"USER:PASSWORD\", without control characters; found something else"},
      {"{\"never_direct\": \"yes\"}", "line 1, column 18, never_direct",
       "expected \"all\" or a list of hosts, such as [\"*.example.com\"]; found \"yes\""},
      {"{\"never_direct\": \"all\"}", "line 1, column 18, never_direct",
       "leaves no way to these hosts: no peer has \"role\": \"parent\"; give one that role, or "
       "leave this out"},
      {"{\"reverse\": [{\"host\": \"www.example.com\"}]}", "line 1, column 14, reverse[0]",
       "expected \"to\", a URL like \"http://127.0.0.1:8000\", or a list of them; it is missing"},
      {"{\"reverse\": [{\"host\": \"http://www.example.com\", \"to\": \"http://a\"}]}",
       "line 1, column 23, reverse[0].host",
       "expected a host like \"www.example.com\", \"*.example.com\" or \"*\", perhaps with a port; "
       "found \"http://www.example.com\""},
      {"{\"reverse\": [{\"host\": \"*\", \"to\": \"a:80\"}]}", "line 1, column 34, reverse[0].to",
       "expected a URL like \"http://127.0.0.1:8000\", without path or user; found \"a:80\""},
      {"{\"reverse\": [{\"host\": \"*\", \"to\": \"http://a/path\"}]}",
       "line 1, column 34, reverse[0].to",
       "expected a URL like \"http://127.0.0.1:8000\", without path or user; found "
       "\"http://a/path\""},
      {"{\"reverse\": [{\"host\": \"*\", \"to\": \"http://a\", \"share\": true}]}",
       "line 1, column 55, reverse[0].share",
       "needs a named host, such as \"www.example.com\" or \"*.example.com\": under \"*\" a client "
       "could choose any site; name the hosts, or leave it out"},
      {"{\"rules\": [{\"host\": \"*\"}]}", "line 1, column 12, rules[0]",
       "expected \"name\", a word for Cache-Status; it is missing"},
      {"{\"rules\": [{\"name\": \"a\", \"host\": \"*\"}]}", "line 1, column 12, rules[0]",
       "does nothing; give it min_fresh, max_fresh, negative, immutable, authorization, "
       "ignore_client_no_cache, drop_query, never_store, offline, store_cookies, class, key or "
       "follow, or leave it out"},
      {"{\"rules\": [{\"name\": \"a\", \"host\": \"*\", \"paths\": \"*.deb\", \"immutable\": "
       "true}]}",
       "line 1, column 48, rules[0].paths",
       "expected a list of globs, such as \"*.deb\"; found \"*.deb\""},
      {"{\"rules\": [{\"name\": \"a\", \"host\": \"*.*.com\", \"immutable\": true}]}",
       "line 1, column 34, rules[0].host",
       "expected a host like \"www.example.com\", \"*.example.com\" or \"*\", perhaps with a port; "
       "found \"*.*.com\""},
      {"{\"rules\": [{\"name\": \"a\", \"host\": \"*\", \"min_fresh\": \"2h\", \"max_fresh\": "
       "\"1h\"}]}",
       "line 1, column 52, rules[0].min_fresh",
       "is longer than max_fresh; make one of them fit the other"},
      {"{\"access\": {\"clients\": \"any\"}}", "line 1, column 24, access.clients",
       "expected a list of named sets, addresses and ranges, such as \"private\"; found \"any\""},
      {"{\"access\": {\"clients\": [\"10.0.0.0/33\"]}}", "line 1, column 25, access.clients[0]",
       "expected \"loopback\", \"private\", \"link-local\", \"metadata\", \"any\" or \"all\", an "
       "address or a range like \"10.0.0.0/8\" (no bits set beyond its prefix); found "
       "\"10.0.0.0/33\""},
      {"{\"access\": {\"clients\": [\"10.0.0.1/8\"]}}", "line 1, column 25, access.clients[0]",
       "has bits set beyond its prefix: \"10.0.0.1/8\"; did you mean \"10.0.0.0/8\"?"},
      {"{\"access\": {\"clients\": [\"lan\"]}}", "line 1, column 25, access.clients[0]",
       "expected \"loopback\", \"private\", \"link-local\", \"metadata\", \"any\" or \"all\", an "
       "address or a range like \"10.0.0.0/8\" (no bits set beyond its prefix); found \"lan\""},
      {"{\"access\": {\"clients\": [\"10.0.0.0-10.0.0.9\"]}}",
       "line 1, column 25, access.clients[0]",
       "expected \"loopback\", \"private\", \"link-local\", \"metadata\", \"any\" or \"all\", an "
       "address or a range like \"10.0.0.0/8\" (no bits set beyond its prefix); found "
       "\"10.0.0.0-10.0.0.9\""},
      {"{\"access\": {\"rules\": [{\"clients\": [\"any\"]}]}}",
       "line 1, column 23, access.rules[0]",
       "expected \"action\", \"allow\" or \"deny\"; it is missing"},
      {"{\"access\": {\"rules\": [{\"action\": \"drop\"}]}}",
       "line 1, column 34, access.rules[0].action",
       "expected \"allow\" or \"deny\"; found \"drop\""},
      {"{\"access\": {\"rules\": [{\"action\": \"deny\", \"times\": [\"9-17\"]}]}}",
       "line 1, column 52, access.rules[0].times[0]",
       "expected days and hours, such as \"mon-fri 08:00-18:00\", \"sat,sun\" or \"22:00-06:00\"; "
       "found \"9-17\""},
      {"{\"access\": {\"rules\": [{\"action\": \"deny\", \"users\": [\"a\"]}]}}",
       "line 1, column 51, access.rules[0].users",
       "needs access.users, with the \"file\" of the users"},
      {"{\"access\": {\"connect_ports\": 443}}", "line 1, column 30, access.connect_ports",
       "expected a list of ports, such as 443 or \"8000-8999\"; found the number 443"},
      {"{\"access\": {\"deny\": [\"a.example\"]}}", "line 1, column 13, access.deny",
       "is not a setting; known here: \"rules\", \"users\", \"clients\", \"monitor\", \"admin\", "
       "\"peers\", \"deny_to\", \"connect_ports\", \"own_names\", \"direct\", \"block\" or "
       "\"allow\""},
      {"{\"log\": \"stdout\"}", "line 1, column 9, log",
       "expected an object in braces; found \"stdout\""},
      {"{\"log\": {\"format\": \"combined\"}}", "line 1, column 20, log.format",
       "expected \"squid\" or \"json\"; found \"combined\""},
      {"{\"log\": {\"level\": \"debug\"}}", "line 1, column 10, log.level",
       "is not a setting; known here: \"format\", \"events\", \"site_questions\" or \"access\""},
      {"{\"timeouts\": {\"connect\": 5}}", "line 1, column 26, timeouts.connect",
       "expected a time (in ms, s, m, h, d or w) from \"100ms\" to \"1d\", written like \"250ms\"; "
       "found the number 5; say the unit: \"5s\" or another"},
      {"{\"timeouts\": {\"connect\": \"5\"}}", "line 1, column 26, timeouts.connect",
       "expected a time (in ms, s, m, h, d or w) from \"100ms\" to \"1d\", written like \"250ms\"; "
       "found \"5\"; say the unit: \"5s\" or another"},
      {"{\"timeouts\": {\"connect\": \"0s\"}}", "line 1, column 26, timeouts.connect",
       "expected a time (in ms, s, m, h, d or w) from \"100ms\" to \"1d\", written like \"250ms\"; "
       "found \"0s\""},
      {"{\"timeouts\": {\"connect\": \"5 s\"}}", "line 1, column 26, timeouts.connect",
       "expected a time (in ms, s, m, h, d or w) from \"100ms\" to \"1d\", written like \"250ms\"; "
       "found \"5 s\"; write \"5s\""},
      {"{\"limits\": {\"connections\": 0}}", "line 1, column 28, limits.connections",
       "expected a whole number from 1 to 10000000; found the number 0"},
      {"{\"limits\": {\"head\": \"1B\"}}", "line 1, column 21, limits.head",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1KiB\" to \"1MiB\", written like "
       "\"256MiB\"; found \"1B\""},
      {"{\"limits\": {\"bandwidth\": \"100Mbit\"}}", "line 1, column 26, limits.bandwidth",
       "expected a size (in B, KiB, MiB, GiB or TiB) from \"1KiB\" to \"1TiB\", written like "
       "\"256MiB\"; found \"100Mbit\""},
      {"{\"digest\": {\"bits_per_entry\": 2}}", "line 1, column 31, digest.bits_per_entry",
       "expected a whole number from 4 to 127; found the number 2"},
      {"{\"digest\": {\"prefer\": \"fast\"}}", "line 1, column 23, digest.prefer",
       "expected \"latency\", \"origin-load\" or \"neighbours\"; found \"fast\""},
      {"{\"forwarded\": \"on\"}", "line 1, column 15, forwarded",
       "expected \"off\", \"append\", \"replace\" or \"remove\"; found \"on\""},
      {"{\"control\": true}", "line 1, column 13, control",
       "expected \"none\" or the whole path of a socket, such as \"/run/hearsay/control.sock\"; "
       "found true"},
      {"{\"sandbox\": \"no\"}", "line 1, column 13, sandbox",
       "expected true or false; found \"no\""},
      {"{\"threads\": 1, \"threads\": 2}", "line 1, column 16, threads",
       "is given twice; keep one of the two"},
      {"{\"threads\": null}", "line 1, column 13, threads",
       "expected a whole number from 0 to 1024; found null"},
      {"{\"access\": {\"monitor\": [\"all\"], \"monitr\": []}}", "line 1, column 33, access.monitr",
       "is not a setting; did you mean \"monitor\"?"},
      {"{\"digest\": {\"check_sample\": 2}}", "line 1, column 29, digest.check_sample",
       "expected a number from 0 to 1; found the number 2"},
      {"{\"forward\": \"no\"}", "line 1, column 13, forward",
       "expected true or false; found \"no\""},
  });
}

}  // namespace
}  // namespace config
