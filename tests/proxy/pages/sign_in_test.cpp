#include "proxy/pages/sign_in.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "proxy/client/arrival.hpp"
#include "proxy/pages/own_pages.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

const std::string kUs = "Host: 10.0.0.5:3128\r\n";
const std::string kMeantSo = "X-Hearsay: 1\r\n";

// A proxy whose settings name no admin, and a client far away.
struct Closed {
  Closed() { scene.client.address = *config::parse_address("203.0.113.1"); }

  static config::Settings settings() {
    auto settings = client::quiet_settings();
    settings.access.admin = {};
    settings.access.monitor = {};
    return settings;
  }
  std::string ticket() {
    return scene.shared.visitors.badges.issue_ticket(std::chrono::steady_clock::now());
  }
  std::optional<std::string> redeems(const std::string& ticket) {
    const auto now = std::chrono::steady_clock::now();
    return scene.shared.visitors.badges.redeem(ticket, scene.client.address, now);
  }
  std::string badge() { return redeems(ticket()).value(); }
  bool counts(const std::string& badge) {
    const auto now = std::chrono::steady_clock::now();
    return scene.shared.visitors.badges.counts(badge, scene.client.address, now);
  }
  std::unique_ptr<policy::Request> request(const std::string& line, const std::string& lines) {
    texts.push_back(line + " HTTP/1.1\r\n" + lines + "\r\n");
    auto parsed = policy::parse_request(texts.back(), {}).value();
    parsed->pin(scene.policy);
    client::record_arrival(scene.client, *parsed);
    return parsed;
  }
  bool is_admin(const policy::Request& request) {
    return with_badge(scene.shared.pages, scene.client, request, request.caller).is_admin();
  }
  // The whole response. The connection is used up.
  std::string answer(const std::string& line, const std::string& lines) {
    const auto asked = request(line, lines);
    scene.response.begin({1, false, false});
    server::Http1Body body(scene.input, asked->framing);
    return scene.received(
        serve_own(scene.shared.pages, scene.client, *asked, *own_page(scene.client, *asked), body));
  }

  Scene scene{settings()};
  std::deque<std::string> texts;  // of the requests, which refer to them
};

bool contains_part(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}
std::string status_of_answer(const std::string& answer) {
  return answer.substr(9, 3);
}

struct Shown {
  const char* name;
  std::string cookie;  // B: the badge
  bool counts;
};

TEST(BadgeCookie, CountsUnderItsNameAlone) {
  Closed closed;
  const auto badge = closed.badge();
  const Shown kShown[] = {
      {"Alone", "hearsay-3128=B", true},
      {"AmongOthers", "a=b;  hearsay-3128=B ; c=d", true},
      {"AfterAStaleOne", "hearsay-3128=0123; hearsay-3128=B", true},
      {"OfAnotherPort", "hearsay-3129=B", false},
      {"Longer", "hearsay-3128=B0", false},
      {"Quoted", "hearsay-3128=\"B\"", false},
      {"NoName", "B", false},
      {"NoBadge", "hearsay-3128=", false},
      {"AfterMany", "hearsay-3128=1;hearsay-3128=2;hearsay-3128=3;hearsay-3128=4;hearsay-3128=B",
       false},
  };
  for (const auto& shown : kShown) {
    auto cookie = shown.cookie;
    const auto at = cookie.find('B');
    if (at != cookie.npos) cookie.replace(at, 1, badge);
    const auto request = closed.request("GET /hearsay/about", kUs + "Cookie: " + cookie + "\r\n");
    EXPECT_EQ(is_signed_in(closed.scene.shared.pages, closed.scene.client, *request), shown.counts)
        << shown.name;
    EXPECT_EQ(closed.is_admin(*request), shown.counts) << shown.name;
  }
}

// A server on another port of the proxy's host sees the cookie, too.
TEST(BadgeCookie, CountsFromTheAddressOfTheBrowserAlone) {
  Closed closed;
  const auto request =
      closed.request("GET /hearsay/about", kUs + "Cookie: hearsay-3128=" + closed.badge() + "\r\n");
  EXPECT_TRUE(is_signed_in(closed.scene.shared.pages, closed.scene.client, *request));
  closed.scene.client.address = *config::parse_address("203.0.113.2");
  EXPECT_FALSE(is_signed_in(closed.scene.shared.pages, closed.scene.client, *request));
}

TEST(BadgeCookie, IsForScriptsAndOtherSitesOutOfReachAndForOurPagesAlone) {
  const auto target = http::parse_target("GET", "/hearsay/", "a.test:3128").value();
  const auto cookies = badge_cookies(target, "0af");
  EXPECT_EQ(cookies.front(),
            "hearsay-3128=0af; Path=/hearsay/; Max-Age=43200; HttpOnly; SameSite=Strict");
  for (const auto& cookie : cookies) EXPECT_FALSE(contains_part(cookie, "Path=/;")) << cookie;
  const auto tls = http::parse_target("GET", "https://a.test/hearsay/").value();
  for (const auto& cookie : badge_cookies(tls, "0af")) {
    EXPECT_TRUE(cookie.starts_with("hearsay-443=0af; ") && cookie.ends_with("; Secure")) << cookie;
  }
  EXPECT_TRUE(contains_part(badge_cookies(target, "").front(),
                            "hearsay-3128=; Path=/hearsay/; Max-Age=0;"));
}

// What a browser that is signed in may do: the same rules hold as for an address in access.admin.
struct Deed {
  const char* name;
  std::string line;
  std::string lines;
  const char* status;
};
const std::string kMaySay = "Cookie: hearsay-3128=";

TEST(SignedInBrowser, IsAnAdminHeldToTheRulesForAdmins) {
  const Deed kDeeds[] = {
      {"Dashboard", "GET /hearsay/", kUs, "200"},
      {"Requests", "GET /hearsay/requests", kUs, "200"},
      {"Metrics", "GET /metrics", kUs, "200"},
      {"Explain", "GET /admin/explain?url=http://10.9.9.9/", kUs, "200"},
      {"SignOutByAWebPage", "POST /hearsay/sign-out", kUs, "403"},
      {"PurgeByAWebPage", "POST /admin/purge", kUs, "403"},
      {"PurgeThroughAProxy", "POST /admin/purge", kUs + kMeantSo + "Via: 1.1 b\r\n", "403"},
      {"PurgeForAnother", "POST /admin/purge", kUs + kMeantSo + "X-Forwarded-For: x\r\n", "403"},
      {"PurgeByAReboundName", "POST /admin/purge", "Host: evil.test:3128\r\n" + kMeantSo, "403"},
      {"PurgeByGet", "GET /admin/purge", kUs + kMeantSo, "405"},
      {"Ticket", "POST /admin/tickets", kUs + kMeantSo, "403"},
      {"Revocation", "POST /admin/tickets/revoke", kUs + kMeantSo, "403"},
  };
  for (const auto& deed : kDeeds) {
    Closed closed;
    const auto cookie = kMaySay + closed.badge() + "\r\n";
    // The requests are noted by the thread that makes the news.
    if (deed.line != "GET /hearsay/requests" && deed.line != "GET /metrics") {
      EXPECT_EQ(status_of_answer(closed.answer(deed.line, deed.lines + cookie)), deed.status)
          << deed.name;
    } else {
      const auto request = closed.request(deed.line, deed.lines + cookie);
      EXPECT_TRUE(closed.is_admin(*request)) << deed.name;
    }
    Closed other;
    EXPECT_EQ(status_of_answer(other.answer(deed.line, deed.lines)).substr(0, 1), "4")
        << deed.name << " without a badge";
  }
}

TEST(SignIn, TakesATicketOnceAndOnPurpose) {
  const auto bearer = [](const std::string& ticket) {
    return "Authorization: Bearer " + ticket + "\r\n";
  };
  Closed closed;
  const auto ticket = closed.ticket();
  const auto answer = closed.answer("POST /hearsay/session", kUs + kMeantSo + bearer(ticket));
  EXPECT_EQ(status_of_answer(answer), "200") << answer;
  EXPECT_TRUE(contains_part(answer, "Cache-Control: no-store\r\n")) << answer;
  const auto at = answer.find("Set-Cookie: hearsay-3128=") + 25;
  EXPECT_TRUE(closed.counts(answer.substr(at, Badges::kLength))) << answer;
  EXPECT_FALSE(closed.redeems(ticket));
  Closed by_a_page;
  const auto unused = by_a_page.ticket();
  EXPECT_EQ(status_of_answer(by_a_page.answer("POST /hearsay/session", kUs + bearer(unused))),
            "403");
  EXPECT_TRUE(by_a_page.redeems(unused)) << "no web page can use it up";
  for (const auto& lines : {bearer(std::string(40, '0')), std::string(), bearer("")}) {
    Closed guessed;
    EXPECT_EQ(status_of_answer(guessed.answer("POST /hearsay/session", kUs + kMeantSo + lines)),
              "403");
  }
}

TEST(SignOut, EndsTheBadgeOfThisBrowser) {
  Closed closed;
  const auto badge = closed.badge();
  const auto other = closed.badge();
  const auto answer =
      closed.answer("POST /hearsay/sign-out", kUs + kMeantSo + kMaySay + badge + "\r\n");
  EXPECT_TRUE(contains_part(answer, "hearsay-3128=; Path=/hearsay/; Max-Age=0")) << answer;
  EXPECT_FALSE(closed.counts(badge));
  EXPECT_TRUE(closed.counts(other));
}

struct Place {
  std::vector<const char*> listening;
  const char* own_name;
  const char* machine;  // null: unknown
  const char* place;
};

TEST(ReachableAt, IsTheSocketThatIsOpenToMost) {
  const Place kPlaces[] = {
      {{"127.0.0.1"}, "", "10.0.0.5", "127.0.0.1:3128"},
      {{"127.0.0.1", "10.0.0.7"}, "", "10.0.0.5", "10.0.0.7:3129"},
      {{"127.0.0.1", "0.0.0.0"}, "", "10.0.0.5", "10.0.0.5:3129"},
      {{"::"}, "cache.lan", "10.0.0.5", "cache.lan:3128"},
      {{"::"}, "", "fe80::1%1", "[fe80::1]:3128"},
      {{"0.0.0.0"}, "", nullptr, "127.0.0.1:3128"},
      {{"::1"}, "cache.lan", "10.0.0.5", "[::1]:3128"},
  };
  for (const auto& one : kPlaces) {
    std::vector<net::tcp::endpoint> listening;
    for (const auto* address : one.listening) {
      const auto port = static_cast<std::uint16_t>(3128 + listening.size());
      listening.emplace_back(net::asio::ip::make_address(address), port);
    }
    std::optional<net::asio::ip::address> machine;
    if (one.machine) machine = net::asio::ip::make_address(one.machine);
    EXPECT_EQ(reachable_at(listening, one.own_name, machine), one.place);
  }
}

}  // namespace
}  // namespace proxy::pages
