// Random stories, from a grammar of cases that were found to be hard.
#include <random>

#include "tests/scenario/model/story.hpp"

namespace model {
namespace {

class Dice {
 public:
  Dice(unsigned seed, const Scale& scale) : random_(seed), scale_(scale) {}

  int upto(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool one_in(int count) { return upto(count - 1) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(upto(static_cast<int>(list.size()) - 1))];
  }
  Seconds time() {
    static const std::vector<Seconds> kTimes{0, 1, 2, 5, 10, 20, 40, 100, 200, 1000, 2000};
    return pick(kTimes) * scale_.unit;
  }
  std::string number() { return std::to_string(time()); }
  std::string signed_number() { return (one_in(2) ? "-" : "+") + number(); }
  const Scale& scale() const { return scale_; }

 private:
  std::mt19937 random_;
  const Scale scale_;
};

// Mostly in the correct form, sometimes in the forms that people write.
std::string delta(Dice& dice, const std::string& name) {
  const std::string good = name + "=" + dice.number();
  switch (dice.upto(24)) {
    case 0:
      return name;
    case 1:
      return name + "=";
    case 2:
      return good + "x";
    case 3:
      return name + "=\"" + dice.number() + "\"";
    case 4:
      return name + "='" + dice.number() + "'";
    case 5:
      return name + " = " + dice.number();
    case 6:
      return good + ".5";
    case 7:
      return name + "=-" + dice.number();
    case 8:
      return name + "=00" + dice.number();
    case 9:
      return name + "=99999999999999999999";
    case 10:
      return good + ", " + name + "=" + dice.number();
    case 11:
      return std::string(name.size() > 7 ? "S-MaxAge" : "Max-Age") + "=" + dice.number();
    default:
      return good;
  }
}

std::string extension(Dice& dice) {
  static const std::vector<std::string> kOdd{"ext=\"max-age=1000, no-store\"",
                                             "ext",
                                             "",
                                             "ext=\"a\\\"b, private\"",
                                             ";",
                                             "=no-store",
                                             "immutable",
                                             "no-transform"};
  return dice.pick(kOdd);
}

std::string response_directive(Dice& dice) {
  static const std::vector<std::string> kWords{"no-store",
                                               "no-cache",
                                               "private",
                                               "public",
                                               "must-revalidate",
                                               "proxy-revalidate",
                                               "must-understand",
                                               "public",
                                               "No-Cache",
                                               "private=\"X-Note\"",
                                               "no-cache=\"X-Note, X-Extra\"",
                                               "no-cache=X-Note",
                                               "private=\"\"",
                                               "no-cache=\"ETag\"",
                                               "public=1"};
  switch (dice.upto(11)) {
    case 0:
      return delta(dice, "s-maxage");
    case 1:
      return delta(dice, dice.scale().in_background ? "stale-while-revalidate" : "ext");
    case 2:
      return delta(dice, "stale-if-error");
    case 3:
      return extension(dice);
    case 4:
    case 5:
      return dice.pick(kWords);
    default:
      return delta(dice, "max-age");
  }
}

std::string request_directive(Dice& dice) {
  static const std::vector<std::string> kWords{"no-cache", "no-store", "only-if-cached",
                                               "max-stale", "ext=\"no-cache\""};
  switch (dice.upto(5)) {
    case 0:
      return delta(dice, "max-age");
    case 1:
      return delta(dice, "min-fresh");
    case 2:
      return delta(dice, "max-stale");
    case 3:
      return delta(dice, "stale-if-error");
    default:
      return dice.pick(kWords);
  }
}

template <class Directive>
void add_cache_control(Dice& dice, Fields& fields, Directive directive) {
  std::string line = directive(dice);
  while (dice.one_in(2)) line += (dice.one_in(4) ? " ,,\t" : ", ") + directive(dice);
  if (dice.one_in(60)) line += ", ext=\"";
  fields.push_back({dice.one_in(5) ? "cache-control" : "Cache-Control", line});
  if (dice.one_in(8)) fields.push_back({"Cache-Control", directive(dice)});
}

std::string date(Dice& dice) {
  static const std::vector<std::string> kInvalid{"0",
                                                 "-1",
                                                 "tomorrow",
                                                 "Mon, 01 Jan 2124 00:00:00",
                                                 "mon, 01 JAN 2124 00:00:00 gmt",
                                                 "Sat, 31 Dec 2016 23:59:60 GMT",
                                                 "Mon, 1 Jan 2124 00:00:00 GMT",
                                                 "Mon, 01 Jan 24 00:00:00 GMT",
                                                 "Mon, 30 Feb 2124 00:00:00 GMT",
                                                 "Mon, 01 Jan 2124 24:00:00 GMT",
                                                 "Mon, 01-Jan-2124 00:00:00 GMT",
                                                 "Mon, 01 Jan 2124 00:00:00 UTC"};
  if (dice.one_in(10)) return dice.pick(kInvalid);
  static const std::vector<std::string> kStyles{"@", "@", "@", "%", "&"};
  return dice.pick(kStyles) + dice.signed_number();
}

// The entity tag and Last-Modified of a version, whose time is always the same.
void add_validators(Dice& dice, Fields& fields, int version) {
  const auto tag = "\"v" + std::to_string(version) + "\"";
  static const std::vector<std::string> kOdd{"v0", "\"v0", "W/v1", "\"\"", "\"v,0\"", "w/\"v0\""};
  if (dice.one_in(2)) fields.push_back({"ETag", dice.one_in(4) ? "W/" + tag : tag});
  if (dice.one_in(40)) fields.push_back({"ETag", dice.pick(kOdd)});
  const auto made = "$-" + std::to_string(100000 - version * 1000);
  if (dice.one_in(3)) fields.push_back({"Last-Modified", made});
}

void add_metadata(Dice& dice, Fields& fields) {
  if (!dice.one_in(4)) add_cache_control(dice, fields, response_directive);
  if (dice.one_in(4)) fields.push_back({"Expires", date(dice)});
  if (dice.one_in(40)) fields.push_back({"Expires", date(dice)});
  // Where the clock runs by itself, the model cannot tell the second in which an answer comes.
  const bool runs = !dice.scale().moves;
  const bool odd = dice.one_in(4);
  if (runs || dice.one_in(2)) {
    fields.push_back({"Date", runs && odd ? "@" + dice.signed_number() : odd ? date(dice) : "@+0"});
  }
  static const std::vector<std::string> kAges{
      "-1", "x", "1.5", "\"3\"", "99999999999999999999", "", "3, 1000", "1000, 3"};
  if (dice.one_in(5)) fields.push_back({"Age", dice.one_in(4) ? dice.pick(kAges) : dice.number()});
  static const std::vector<std::string> kVary{"Accept-Encoding",
                                              "accept-language",
                                              "X-Select",
                                              "X-Select, Accept-Encoding",
                                              "*",
                                              "X-Select, *",
                                              "",
                                              "X-Select, X-Select",
                                              "Cookie",
                                              "Accept-Language,,Accept-Encoding"};
  if (dice.one_in(4)) fields.push_back({"Vary", dice.pick(kVary)});
  if (dice.one_in(20)) fields.push_back({"Vary", dice.pick(kVary)});
  if (dice.one_in(8)) fields.push_back({"Set-Cookie", "a=" + dice.number()});
  if (dice.one_in(3)) fields.push_back({"X-Note", dice.number()});
  if (dice.one_in(10)) fields.push_back({"X-Extra", dice.number()});
  if (dice.one_in(12)) fields.push_back({"Connection", dice.one_in(2) ? "X-Note" : "X-Extra, foo"});
  if (dice.one_in(8)) fields.push_back({"Content-Type", dice.one_in(2) ? "text/plain" : "a/b"});
}

std::string tags(Dice& dice) {
  static const std::vector<std::string> kLists{"\"v0\"", "\"v1\"",        "W/\"v0\"",
                                               "*",      "\"x\", \"v1\"", "\"x\",,W/\"v1\" ,\"y\"",
                                               "v0",     "\"x,\"v0\""};
  return dice.pick(kLists);
}

void add_selecting(Dice& dice, Fields& fields) {
  static const std::vector<std::string> kEncodings{"gzip",    "GZIP", "gzip, br",
                                                   "br,gzip", "",     "identity"};
  static const std::vector<std::string> kLanguages{"en", "en, de", "de,  en", "EN"};
  static const std::vector<std::string> kWords{"a", "A", "a, b", "b,a", "a,,b", ""};
  if (dice.one_in(3)) fields.push_back({"Accept-Encoding", dice.pick(kEncodings)});
  if (dice.one_in(4)) fields.push_back({"Accept-Language", dice.pick(kLanguages)});
  if (dice.one_in(3)) fields.push_back({"X-Select", dice.pick(kWords)});
  if (dice.one_in(12)) fields.push_back({"X-Select", dice.pick(kWords)});
  if (dice.one_in(8)) fields.push_back({"Cookie", dice.one_in(2) ? "u=1" : "u=2"});
}

void add_conditions(Dice& dice, Fields& fields) {
  static const std::vector<std::string> kRanges{"bytes=0-4", "bytes=5-",    "bytes=-3",
                                                "bytes=9-2", "lines=1-2",   "bytes=900-",
                                                "bytes=x-1", "bytes=10-900"};
  if (dice.one_in(8)) fields.push_back({"If-None-Match", tags(dice)});
  if (dice.one_in(10)) {
    fields.push_back({"If-Modified-Since", dice.one_in(2)
                                               ? "$-" + std::to_string(99000 + 1000 * dice.upto(1))
                                               : date(dice)});
  }
  if (dice.one_in(8)) fields.push_back({"Range", dice.pick(kRanges)});
  if (dice.one_in(16)) fields.push_back({"If-Range", dice.one_in(2) ? "\"v0\"" : "W/\"v0\""});
  if (dice.one_in(40)) fields.push_back({"If-Match", "\"v0\""});
}

Ask random_ask(Dice& dice) {
  static const std::vector<std::string> kMethods{"HEAD",   "HEAD", "POST",   "PUT",
                                                 "DELETE", "FROB", "OPTIONS"};
  Ask ask;
  if (dice.one_in(6)) ask.method = dice.pick(kMethods);
  ask.url = dice.one_in(6) ? 1 : 0;
  if (dice.one_in(4)) add_cache_control(dice, ask.fields, request_directive);
  if (dice.one_in(20)) ask.fields.push_back({"Pragma", "no-cache"});
  if (dice.one_in(10)) ask.fields.push_back({"Authorization", "Basic YTph"});
  add_selecting(dice, ask.fields);
  add_conditions(dice, ask.fields);
  return ask;
}

Reaction random_reaction(Dice& dice) {
  static const std::vector<int> kStatuses{203, 204, 206, 299, 300, 301, 302, 307, 404, 404, 405,
                                          410, 403, 414, 500, 500, 501, 502, 503, 503, 504, 499};
  using Kind = Reaction::Kind;
  static const std::vector<Kind> kKinds{
      Kind::honest, Kind::honest, Kind::honest,       Kind::honest,
      Kind::honest, Kind::honest, Kind::always_whole, Kind::always_unmodified,
      Kind::cut};
  Reaction reaction;
  reaction.kind = dice.pick(kKinds);
  if (dice.one_in(5)) reaction.status = dice.pick(kStatuses);
  reaction.version = dice.one_in(3) ? 1 : 0;
  add_metadata(dice, reaction.fields);
  add_validators(dice, reaction.fields, reaction.version);
  static const std::vector<std::string> kPlaces{"/0", "/1", "http://elsewhere.example/0", "1", ""};
  if (dice.one_in(8)) reaction.fields.push_back({"Content-Location", dice.pick(kPlaces)});
  if (dice.one_in(12)) reaction.fields.push_back({"Location", dice.pick(kPlaces)});
  if (!dice.scale().moves || dice.one_in(2)) add_metadata(dice, reaction.unmodified);
  if (!dice.one_in(3))
    add_validators(dice, reaction.unmodified,
                   dice.one_in(6) ? 1 - reaction.version : reaction.version);
  if (dice.scale().moves && dice.one_in(6)) reaction.delay = dice.upto(3);
  return reaction;
}

}  // namespace

Story random_story(unsigned seed, const Scale& scale, int steps) {
  static const std::vector<Seconds> kPauses{0, 0, 0, 1, 1, 1, 2, 5, 10, 30, 100, 1000};
  Dice dice(seed, scale);
  Story story;
  for (int i = 0; i < steps; ++i) {
    Step step;
    if (scale.moves) step.pause = dice.pick(kPauses);
    step.ask = random_ask(dice);
    step.origin = random_reaction(dice);
    story.push_back(step);
  }
  return story;
}

}  // namespace model
