// Random requests meet random origin behaviour, and the rules are compared with a slow and obvious
// model of RFC 9111 that reads no text: it is told what the text was made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>

#include "proxy/http/date.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  int upto(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool one_in(int count) { return upto(count - 1) == 0; }
  std::optional<int> maybe(int one_of, int most) {
    return one_in(one_of) ? std::optional(upto(most)) : std::nullopt;
  }

 private:
  std::mt19937 random_;
};

std::string number(const char* name, std::optional<int> value) {
  return value ? std::string(name) + "=" + std::to_string(*value) + ", " : "";
}
std::string word(const char* name, bool said) {
  return said ? std::string(name) + ", " : "";
}

struct Asked {
  bool head, no_store, no_cache, only_if_cached, authorization;
  std::optional<int> max_age, min_fresh, max_stale, selecting;

  explicit Asked(Dice& dice)
      : head(dice.one_in(8)),
        no_store(dice.one_in(12)),
        no_cache(dice.one_in(12)),
        only_if_cached(dice.one_in(8)),
        authorization(dice.one_in(8)),
        max_age(dice.maybe(8, 40)),
        min_fresh(dice.maybe(8, 40)),
        max_stale(dice.maybe(8, 40)),
        selecting(dice.maybe(2, 2)) {}

  std::string text() const {
    return "Cache-Control: " + word("no-store", no_store) + word("no-cache", no_cache) +
           word("only-if-cached", only_if_cached) + number("max-age", max_age) +
           number("min-fresh", min_fresh) + number("max-stale", max_stale) + "\r\n" +
           (authorization ? "Authorization: Basic x\r\n" : "") +
           (selecting ? "X-Select: " + std::to_string(*selecting) + "\r\n" : "");
  }
};

struct Answered {
  int status;
  bool no_store, no_cache, private_, public_, must_revalidate, proxy_revalidate, must_understand;
  bool etag, set_cookie, vary;
  std::optional<int> max_age, s_maxage, age, date, expires, modified;  // before or after now
  int delay;

  explicit Answered(Dice& dice)
      : status(std::array{200, 200, 200, 203, 204, 206, 299, 301, 302, 404,
                          503}[static_cast<std::size_t>(dice.upto(10))]),
        no_store(dice.one_in(10)),
        no_cache(dice.one_in(10)),
        private_(dice.one_in(10)),
        public_(dice.one_in(4)),
        must_revalidate(dice.one_in(8)),
        proxy_revalidate(dice.one_in(8)),
        must_understand(dice.one_in(8)),
        etag(dice.one_in(2)),
        set_cookie(dice.one_in(6)),
        vary(dice.one_in(2)),
        max_age(dice.maybe(3, 60)),
        s_maxage(dice.maybe(6, 60)),
        age(dice.maybe(4, 40)),
        date(dice.maybe(2, 80)),
        expires(dice.maybe(3, 120)),
        modified(dice.maybe(3, 1000)),
        delay(dice.upto(5)) {}

  std::string text(Time now) const {
    const auto at = [&](const char* name, std::optional<int> value, int offset) {
      const auto when = std::chrono::floor<seconds>(now) + seconds(value.value_or(0) + offset);
      return value ? name + http::format_date(when) + "\r\n" : std::string();
    };
    return "Cache-Control: " + word("no-store", no_store) + word("no-cache", no_cache) +
           word("private", private_) + word("public", public_) +
           word("must-revalidate", must_revalidate) + word("proxy-revalidate", proxy_revalidate) +
           word("must-understand", must_understand) + number("max-age", max_age) +
           number("s-maxage", s_maxage) + "\r\n" + at("Date: ", date, -40) +
           at("Expires: ", expires, -40) + at("Last-Modified: ", modified, -1000) +
           (age ? "Age: " + std::to_string(*age) + "\r\n" : "") + (etag ? "ETag: \"e\"\r\n" : "") +
           (set_cookie ? "Set-Cookie: a=b\r\n" : "") + (vary ? "Vary: X-Select\r\n" : "");
  }
};

// Seconds since kStart throughout.
struct Model {
  struct Held {
    Answered answer;
    std::optional<int> selecting;
    int at;
  };
  std::deque<Held> held;  // the newest first

  static int date(const Answered& a) { return a.date ? *a.date - 40 : 0; }
  static bool says_how_long(const Answered& a) { return a.s_maxage || a.max_age || a.expires; }
  static bool may_guess(const Answered& a) {
    return a.public_ || a.status == 200 || a.status == 203 || a.status == 204 || a.status == 301 ||
           a.status == 404;
  }
  static int lifetime(const Answered& a) {
    if (a.s_maxage) return *a.s_maxage;
    if (a.max_age) return *a.max_age;
    if (a.expires) return std::max(0, *a.expires - 40 - date(a));
    if (!may_guess(a) || !a.modified) return 0;
    return std::max(0, (std::min(date(a), 0) - (*a.modified - 1000)) / 10);
  }
  static int age(const Answered& a, int resident) {
    return std::max(std::max(0, -date(a)), a.age.value_or(0) + a.delay) + resident;
  }
  static bool may_store(const Asked& asked, const Answered& a) {
    if (asked.head || asked.no_store || a.status == 206 || a.private_) return false;
    if (a.must_understand ? a.status == 299 : a.no_store) return false;
    if (asked.authorization && !a.public_ && !a.must_revalidate && !a.s_maxage) return false;
    if (!says_how_long(a) && (!may_guess(a) || a.set_cookie)) return false;
    return a.etag || a.modified || (!a.no_cache && lifetime(a) > age(a, 0));
  }
  const Held* find(const Asked& asked) const {
    for (const Held& one : held)
      if (!one.answer.vary || one.selecting == asked.selecting) return &one;
    return nullptr;
  }
  static bool may_reuse(const Asked& asked, const Held& one, int now) {
    const Answered& a = one.answer;
    if (a.no_cache || asked.no_cache || (asked.only_if_cached && a.status != 200)) return false;
    const int old = age(a, now - one.at);
    const int left = lifetime(a) - old;
    const bool strict = a.must_revalidate || a.proxy_revalidate || a.s_maxage;
    if (left <= 0 && (strict || !asked.max_stale || -left > *asked.max_stale)) return false;
    return old <= asked.max_age.value_or(old) && left >= asked.min_fresh.value_or(left);
  }
};

TEST(Differential, TheRulesAgreeWithAnObviousModel) {
  Budget budget(1 << 24);
  Dice dice(4);
  int reused = 0, stored = 0;
  for (int round = 0; round < 2000; ++round) {
    Model model;
    std::deque<std::shared_ptr<const Entry>> entries;
    for (int now = 0, step = 0; step < 12; ++step, now += dice.upto(20)) {
      const Time time = kStart + seconds(now);
      const Asked asked(dice);
      const Request request(asked.text(), asked.head ? "HEAD" : "GET");
      const Model::Held* const expected = model.find(asked);
      Found found;
      const auto matching = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
        return entry->variant.matches(request.head.fields);
      });
      if (matching != entries.end()) found.entry = *matching;
      ASSERT_EQ(found.entry != nullptr, expected != nullptr) << asked.text();
      const bool serves = judge(request.facts, found, time).action == Action::serve;
      const bool may_serve = expected && Model::may_reuse(asked, *expected, now);
      ASSERT_EQ(serves, may_serve) << asked.text() << (found.entry ? found.entry->head : "");
      if (found.entry) {
        ASSERT_EQ(found.entry->age(time), seconds(Model::age(expected->answer, now - expected->at)))
            << found.entry->head;
      }
      reused += serves;
      if (serves || asked.only_if_cached) continue;

      const Answered answer(dice);
      const std::string text = answer.text(time);
      const Response response(text, static_cast<unsigned>(answer.status));
      const Times times{time - seconds(answer.delay), time};
      const auto verdict = may_store(request.facts, response.head, times);
      ASSERT_EQ(verdict == Storability::yes, Model::may_store(asked, answer))
          << cache::text(verdict) << "\n"
          << asked.text() << answer.status << "\n"
          << text;
      if (verdict != Storability::yes) continue;
      ++stored;
      model.held.push_front({answer, asked.selecting, now});
      const Received received{"http://a/", request.head.fields, response.head, times, "us"};
      entries.push_front(std::make_shared<Entry>(budget, received));
    }
  }
  EXPECT_GT(reused, 1000);  // or it compares nothing
  EXPECT_GT(stored, 1000);
}

}  // namespace
}  // namespace proxy::cache
