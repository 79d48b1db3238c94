#include <ostream>

#include "tests/support/hostile_messages.hpp"

namespace support {
namespace {

using namespace std::string_literals;

const std::string kUrl = "http://\x01/a";
const std::string kHost = "Host: \x01\r\n";

// A request line, and a head that is fine.
HostileRequest line(const char* name, const std::string& text, int status = 400) {
  return {name, text + "\r\n" + kHost + "\r\n", status};
}
HostileRequest target(const char* name, const std::string& text, int status = 400) {
  return line(name, "GET " + text + " HTTP/1.1", status);
}
HostileRequest version(const char* name, const std::string& text, int status = 400) {
  return line(name, "GET " + kUrl + " " + text, status);
}
// Fields after a line that is fine.
HostileRequest fields(const char* name, const std::string& text, int status = 400) {
  return {name, "GET " + kUrl + " HTTP/1.1\r\n" + kHost + text + "\r\n", status};
}
// In origin-form, where Host counts.
HostileRequest host(const char* name, const std::string& text, int status = 400) {
  return {name, "GET /a HTTP/1.1\r\n" + text + "\r\n", status};
}

std::vector<HostileRequest> lines() {
  return {
      {"TlsHello", "\x16\x03\x01\x02\r\n\r\n"},
      {"Nothing", "\r\n\r\n\r\n"},
      {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      line("NoVersion", "GET " + kUrl),
      line("OnlyAMethod", "GET"),
      line("NoMethod", " " + kUrl + " HTTP/1.1"),
      line("SpaceFirst", " GET " + kUrl + " HTTP/1.1"),
      line("TwoSpaces", "GET  " + kUrl + " HTTP/1.1"),
      line("TwoSpacesBeforeVersion", "GET " + kUrl + "  HTTP/1.1"),
      line("SpaceLast", "GET " + kUrl + " HTTP/1.1 "),
      line("Tabs", "GET\t" + kUrl + "\tHTTP/1.1"),
      line("VerticalTab", "GET\v" + kUrl + " HTTP/1.1"),
      line("MethodNoToken", "G(T " + kUrl + " HTTP/1.1"),
      line("MethodWithColon", "GET: " + kUrl + " HTTP/1.1"),
      line("MethodWithNul", "GE\0T "s + kUrl + " HTTP/1.1"),
      line("MethodInLowerCase", "get " + kUrl + " HTTP/1.1", 200),
      line("CrInLine", "GET " + kUrl + " HTTP/1.1\rX: y"),
      line("CrCrLf", "GET " + kUrl + " HTTP/1.1\r"),
      {"LfAfterLine", "GET " + kUrl + " HTTP/1.1\n" + kHost + "\r\n"},
      {"OnlyLf", "GET " + kUrl + " HTTP/1.1\nHost: \x01\n\n"},
      {"EmptyLineFirst", "\r\nGET " + kUrl + " HTTP/1.1\r\n" + kHost + "\r\n", 200},
      {"TwoEmptyLinesFirst", "\r\n\r\nGET " + kUrl + " HTTP/1.1\r\n" + kHost + "\r\n"},
      {"LfFirst", "\nGET " + kUrl + " HTTP/1.1\r\n" + kHost + "\r\n"},
      version("OtherProtocol", "ICY/1.1"),
      version("Http09", "HTTP/0.9", 505),
      version("Http20", "HTTP/2.0", 505),
      version("Http12", "HTTP/1.2", 200),
      version("Http110", "HTTP/1.10"),
      version("Http11InLowerCase", "http/1.1"),
      version("VersionWithComma", "HTTP/1,1"),
      version("VersionWithoutDot", "HTTP/11"),
      version("VersionWithSign", "HTTP/+1.1"),
      version("VersionAndJunk", "HTTP/1.1 junk"),
      version("VersionAndNul", "HTTP/1.1\0"s),
  };
}

std::vector<HostileRequest> targets() {
  return {
      target("SpaceInTarget", kUrl + " b"),
      target("NulInTarget", kUrl + "\0b"s),
      target("DelInTarget", kUrl + "\x7f"),
      target("EscInTarget", kUrl + "\x1b[0m"),
      target("Fragment", kUrl + "#b"),
      target("BadPercent", kUrl + "%zz%", 200),  // as it came: browsers send such
      target("Backslash", kUrl + "\\b", 200),
      target("TwoSlashesFirst", "//x.test/a", 200),
      target("NoAuthority", "http:///a"),
      target("OneSlash", "http:/\x01/a"),
      target("Backslashes", "http:\\\\\x01\\a"),
      target("NoScheme", "\x01/a"),
      target("OnlyAQuery", "?a"),
      target("OtherScheme", "gopher://\x01/a", 501),
      target("SchemeNoToken", "ht(tp://\x01/a"),
      target("UserInfo", "http://user:word@\x01/a"),
      target("TwoUserInfos", "http://a@b@\x01/a"),
      target("BackslashBeforeUser", "http://x.test\\@\x01/a"),
      target("BackslashAfterHost", "http://\x01\\@x.test/a"),
      target("PortTooLarge", "http://127.0.0.1:99999/a"),
      target("PortZero", "http://127.0.0.1:0/a"),
      target("PortNoNumber", "http://127.0.0.1:8o/a"),
      target("PortNegative", "http://127.0.0.1:-80/a"),
      target("PortTwice", "http://\x01:80/a"),
      target("HostEmpty", "http://:80/a"),
      target("HostWithComma", "http://\x01,x.test/a"),
      target("HostWithPercent", "http://127.0.0.1%00/a"),
      target("HostOfManyNumbers", "http://127.0.0.0.1/a"),
      target("HostWithTwoDots", "http://127..1/a"),
      target("Ipv6Unclosed", "http://[::1/a"),
      target("Ipv6Bad", "http://[::g]/a"),
      target("Ipv6AndJunk", "http://[::1]x/a"),
      target("Ipv6WithZone", "http://[fe80::1%25lo]/a"),
      target("AsteriskToGet", "*"),
      line("ConnectWithoutPort", "CONNECT 127.0.0.1 HTTP/1.1"),
      line("ConnectToAUrl", "CONNECT " + kUrl + " HTTP/1.1"),
      line("ConnectToPortZero", "CONNECT 127.0.0.1:0 HTTP/1.1"),
      line("ConnectToAPath", "CONNECT /a HTTP/1.1"),
  };
}

std::vector<HostileRequest> hosts() {
  return {
      host("NoHost", ""),
      host("EmptyHost", "Host:\r\n"),
      host("TwoHosts", kHost + kHost),
      host("TwoDifferentHosts", "Host: a.test\r\nHost: b.test\r\n"),
      host("ListOfHosts", "Host: a.test, b.test\r\n"),
      host("HostWithSpace", "Host: a b\r\n"),
      host("HostWithTab", "Host: a\tb\r\n"),
      host("HostWithUser", "Host: user@a.test\r\n"),
      host("HostWithPath", "Host: a.test/b\r\n"),
      host("HostWithScheme", "Host: http://a.test\r\n"),
      host("HostWithNul", "Host: a\0b\r\n"s),
      host("HostOutsideAscii", "Host: \xc3\xa4.test\r\n"),
      host("HostWithBadPort", "Host: a.test:port\r\n"),
      host("HostWithLargePort", "Host: a.test:65536\r\n"),
      host("HostUnclosed", "Host: [::1\r\n"),
      host("HostFolded", "Host:\r\n a.test\r\n"),
      {"TwoHostsInHttp10", "GET /a HTTP/1.0\r\nHost: a.test\r\nHost: a.test\r\n\r\n"},
      {"EmptyHostBesideAuthority", "GET " + kUrl + " HTTP/1.1\r\nHost:\r\n\r\n"},
      {"NoHostBesideAuthority", "GET " + kUrl + " HTTP/1.1\r\n\r\n"},
      {"AuthorityOverHost", "GET " + kUrl + " HTTP/1.1\r\nHost: x.test\r\n\r\n", 200},
  };
}

std::vector<HostileRequest> other_fields() {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "X: y\r\n";
  return {
      fields("LfInFields", "X: 1\nY: 2\r\n"),
      fields("CrInValue", "X: 1\rY: 2\r\n"),
      fields("CrAtEndOfValue", "X: 1\r\r\n"),
      fields("LfCr", "X: 1\n\rY: 2\r\n"),
      fields("NulInValue", "X: 1\0Y\r\n"s),
      fields("VerticalTabInValue", "X: 1\vY\r\n"),
      fields("FormFeedInValue", "X: 1\fY\r\n"),
      fields("DelInValue", "X: 1\x7f\r\n"),
      fields("Folded", "X: 1\r\n folded\r\n"),
      fields("FoldedByATab", "X: 1\r\n\tfolded\r\n"),
      fields("LineOfASpace", "X: 1\r\n \r\n"),
      {"SpaceBeforeFirstField", "GET " + kUrl + " HTTP/1.1\r\n Host: \x01\r\n\r\n"},
      {"FoldedLine", "GET " + kUrl + " HTTP/1.1\r\n X: y\r\n" + kHost + "\r\n"},
      fields("SpaceBeforeColon", "X : 1\r\n"),
      fields("TabBeforeColon", "X\t: 1\r\n"),
      fields("NoColon", "X\r\n"),
      fields("NoName", ": 1\r\n"),
      fields("SpaceInName", "X Y: 1\r\n"),
      fields("NameNoToken", "X(Y): 1\r\n"),
      fields("NameWithSlash", "X/Y: 1\r\n"),
      fields("NameQuoted", "\"X\": 1\r\n"),
      fields("NameWithNul", "X\0: 1\r\n"s),
      fields("NameOutsideAscii", "X\xc3\xa4: 1\r\n"),
      fields("ManyFields", many, 431),
      fields("LargeField", "X: " + std::string(70'000, 'y') + "\r\n", 431),
      fields("BytesOutsideAscii", "X: \xc3\xa4\xff\r\n", 200),
  };
}

}  // namespace

std::vector<HostileRequest> hostile_heads() {
  auto all = lines();
  for (const auto& more : {targets(), hosts(), other_fields()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string with_origin(std::string_view text, std::string_view authority) {
  std::string result;
  for (const char c : text) {
    if (c == kOrigin) {
      result += authority;
    } else {
      result += c;
    }
  }
  return result;
}

void PrintTo(const HostileRequest& message, std::ostream* out) {
  *out << message.name;
}

void PrintTo(const HostileAnswer& message, std::ostream* out) {
  *out << message.name;
}

}  // namespace support
