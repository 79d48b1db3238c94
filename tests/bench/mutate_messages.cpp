// Mutates the messages of tests/support/hostile_messages.hpp at random, sends them through the
// proxy, and compares the result with what a slow and strict reader of RFC 9112 makes of them:
// - the origin gets only requests that the reader finds among those sent: each at most once, in
//   order, in normal form;
// - a client gets as complete only an answer that the reader finds complete in the origin's bytes;
// - all else is refused or cut, is not stored, and does not affect the next exchange.
//   mutate_messages [--requests N] [--answers N] [--seed N]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

#include "tests/bench/arguments.hpp"
#include "tests/support/hostile_messages.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/pump.hpp"
#include "tests/support/strict_reading.hpp"

namespace {

using namespace support;
using strict::End;
using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % std::max<std::size_t>(limit, 1));
}

const std::vector<std::string> kTelling{"\r\n",
                                        "\n",
                                        "\r",
                                        std::string(1, '\0'),
                                        " ",
                                        "\t",
                                        "\v",
                                        ":",
                                        ",",
                                        ";",
                                        "0",
                                        "3",
                                        "\"",
                                        "\x80",
                                        "\r\n\r\n",
                                        "\r\n ",
                                        "0\r\n\r\n",
                                        "3\r\nabc\r\n",
                                        "chunked",
                                        "HTTP/1.1",
                                        "HTTP/1.0",
                                        "Content-Length: 3\r\n",
                                        "Content-Length: 0\r\n",
                                        "Transfer-Encoding: chunked\r\n",
                                        "Connection: close\r\n",
                                        "Connection: Content-Length\r\n",
                                        "Host: a.test\r\n",
                                        "Upgrade: x\r\n",
                                        "GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
                                        "HTTP/1.1 200 OK\r\n\r\n",
                                        "HEAD",
                                        "POST",
                                        "204",
                                        "304"};

// The begin of the line that contains `at`, and the begin of the next line.
std::pair<std::size_t, std::size_t> line_around(const std::string& text, std::size_t at) {
  const auto before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const auto after = text.find('\n', at);
  return {before == std::string::npos ? 0 : before + 1,
          after == std::string::npos ? text.size() : after + 1};
}

void mutate_once(std::string& text, const std::string& other, Random& random) {
  const auto at = below(random, text.size());
  const auto [begin, end] = line_around(text, at);
  const std::string line = text.substr(begin, end - begin);
  switch (below(random, 9)) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8)));
      break;
    case 1:
      if (!text.empty()) text[at] = static_cast<char>(random());
      break;
    case 2:
      text.erase(at, 1 + below(random, 3));
      break;
    case 3:
    case 4:
      text.insert(at, kTelling[below(random, kTelling.size())]);
      break;
    case 5:
      text.insert(begin, line);
      break;
    case 6:
      text.erase(begin, line.size());
      break;
    case 7: {  // move a line
      text.erase(begin, line.size());
      text.insert(line_around(text, below(random, text.size())).first, line);
      break;
    }
    case 8:
      text = text.substr(0, at) + other.substr(below(random, other.size()));
      break;
  }
}

std::string mutated(const std::vector<std::string>& messages, Random& random) {
  std::string text = messages[below(random, messages.size())];
  const auto times = 1 + below(random, 3);
  for (std::size_t i = 0; i < times; ++i) {
    mutate_once(text, messages[below(random, messages.size())], random);
  }
  return text;
}

// Whether each URL in the text names the origin: the proxy must look up no random host name.
bool leads_nowhere_else(const std::string& text) {
  for (auto at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
    const auto end = std::min(text.find_first_of("/? \r\n", at + 3), text.size());
    if (text.substr(at, end - at).find(kOrigin) == text.npos) return false;
  }
  return true;
}

struct Fault {
  std::string why;
};

// Valid requests: more of their mutations are forwarded.
const std::vector<std::string> kFine{
    "GET http://\x01/a HTTP/1.1\r\nHost: \x01\r\nX: y\r\n\r\n",
    "HEAD /a?b HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\n\r\n",
    "GET http://\x01/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nX: y\r\n\r\nabc",
    "PUT http://\x01/a HTTP/1.1\r\nHost: \x01\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n5;a=b\r\ndefgh\r\n0\r\nX: y\r\n\r\n",
    "OPTIONS http://\x01 HTTP/1.1\r\nHost: \x01\r\nMax-Forwards: 7\r\n\r\n",
    "GET http://\x01/a HTTP/1.1\r\nHost: \x01\r\nConnection: upgrade, x\r\nUpgrade: "
    "websocket\r\nX: y\r\n\r\n",
    "GET http://\x01/a HTTP/1.1\r\nHost: \x01\r\n\r\nPOST http://\x01/b HTTP/1.1\r\nHost: "
    "\x01\r\nContent-Length: 31\r\n\r\nGET /c HTTP/1.1\r\nHost: a.test\r\n\r\n",
};

// Whether every field of `got` is in `sent`, apart from blanks. `ours`: fields that a proxy writes.
bool all_sent(const strict::Message& got, const strict::Message& sent,
              const std::vector<std::string>& ours) {
  const auto squeezed = [](std::string value) {
    std::erase_if(value, [](char c) { return c == ' ' || c == '\t'; });
    return value;
  };
  return std::all_of(got.fields.begin(), got.fields.end(), [&](const Field& field) {
    if (std::find(ours.begin(), ours.end(), field.first) != ours.end()) return true;
    return std::any_of(sent.fields.begin(), sent.fields.end(), [&](const Field& one) {
      return one.first == field.first && squeezed(one.second) == squeezed(field.second);
    });
  });
}

std::string shown(std::string_view bytes) {
  return fmt::format(
      "{}",
      json(std::string(bytes.substr(0, 2000))).dump(-1, ' ', true, json::error_handler_t::replace));
}

// Compares what the origin got with what was sent. Returns the number of forwarded requests.
std::size_t check_requests(const std::string& sent, const Pump::Played& played) {
  const auto readable = strict::read_requests(sent);
  auto next = readable.whole.begin();
  std::size_t forwarded = 0;
  for (const auto& bytes : played.at_origin) {
    const auto got = strict::read_requests(bytes);
    if (got.end == End::malformed) throw Fault{"the origin got " + got.fault};
    if (got.whole.size() > 1) throw Fault{"the origin got two requests in one"};
    for (const auto& request : got.whole) {
      const auto wrong = strict::not_normal(request);
      if (!wrong.empty()) throw Fault{"the origin got a request of which " + wrong};
      next = std::find_if(next, readable.whole.end(), [&](const auto& one) {
        return one.first == request.first && strict::path_asked(one) == request.second &&
               one.body == request.body &&
               all_sent(request, one,
                        {"host", "via", "content-length", "transfer-encoding", "max-forwards",
                         "connection", "upgrade"});
      });
      if (next == readable.whole.end()) throw Fault{"the origin got a request that nobody sent"};
      ++next;
      ++forwarded;
    }
  }
  std::string_view left = played.at_client;
  std::size_t answers = 0;
  while (!left.empty()) {
    const bool known = answers < readable.whole.size();
    const auto answer = strict::read_answer(left, known ? readable.whole[answers].first : "GET");
    if (answer.end == End::malformed) throw Fault{"the client got " + answer.fault};
    if (++answers > readable.whole.size() + 1) throw Fault{"the client got too many answers"};
    left = answer.rest;
  }
  return forwarded;
}

// Compares what the client got with what the origin sent. Returns whether it got a complete answer.
bool check_answer(const strict::Answer& expected, const strict::Answer& got) {
  if (got.end == End::malformed) throw Fault{"the client got " + got.fault};
  const bool refused =
      std::any_of(got.message.fields.begin(), got.message.fields.end(), [](const Field& field) {
        return field.first == "server" && field.second.starts_with("Hearsay/");
      });
  if (got.end == End::cut || refused) return false;
  if (expected.end != End::whole) throw Fault{"a damaged answer was passed off as whole"};
  if (expected.status != got.status || expected.message.body != got.message.body) {
    throw Fault{"the client got another answer than was sent"};
  }
  if (!all_sent(got.message, expected.message,
                {"via", "cache-status", "age", "date", "connection", "content-length",
                 "transfer-encoding"})) {
    throw Fault{"the client got fields that nobody sent"};
  }
  return true;
}

struct Run {
  Listener at_proxy;
  Pump pump{at_proxy.port()};
  Pump keeping{at_proxy.port()};  // a second origin, which keeps its connections open
  ProxyProcess proxy{
      json{{"threads", 1},
           {"log", {{"access", "none"}}},
           {"access", {{"connect_ports", {1}}}},
           {"forwarded", "off"},  // adds no fields
           {"reverse",
            {{{"host", "*"}, {"to", "http://127.0.0.1:" + std::to_string(pump.port())}}}}},
      at_proxy};
  Random random;
  std::size_t faults = 0;

  void record(const std::string& sent, const std::string& why) {
    if (++faults <= 20) fmt::print("{}: {}\n", why, shown(sent));
  }
  std::size_t requests(std::size_t count);
  std::size_t answers(std::size_t count);
  strict::Answer ask(Pump& origin, std::string_view line, const std::string& said, bool open);
  bool answer(const std::string& sent, const std::string& path);
  bool still_answers();
};

std::optional<std::string> plain_answer(std::string_view got) {
  const auto requests = strict::read_requests(got);
  if (requests.whole.empty()) return std::nullopt;
  const bool head = requests.whole[0].first == "HEAD";
  return std::string("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n") +
         (head ? "" : "ok");
}

std::size_t Run::requests(std::size_t count) {
  std::vector<std::string> messages;
  for (const auto& list : {hostile_heads(), hostile_bodies()}) {
    for (const auto& message : list) {
      if (message.text.size() < 5000) messages.push_back(message.text);
    }
  }
  const auto hostile = messages.size();
  while (messages.size() < 2 * hostile) {
    messages.insert(messages.end(), kFine.begin(), kFine.end());
  }
  const std::string authority = "127.0.0.1:" + std::to_string(pump.port());
  std::size_t forwarded = 0;
  for (std::size_t i = 0; i < count;) {
    std::string text = mutated(messages, random);
    if (below(random, 4) == 0) text += messages[below(random, messages.size())];
    if (!leads_nowhere_else(text)) continue;
    ++i;
    text = with_origin(text, authority);
    try {
      forwarded += check_requests(text, pump.play(text, plain_answer));
    } catch (const Fault& fault) {
      record(text, fault.why);
    } catch (const std::exception& error) {
      record(text, error.what());
    }
  }
  return forwarded;
}

// Sends the request line `line`, to which the origin answers `said`; returns what the client gets.
strict::Answer Run::ask(Pump& origin, std::string_view line, const std::string& said, bool open) {
  const auto played = origin.play(
      fmt::format("{}\r\nHost: x\r\nConnection: close\r\n\r\n", line),
      [&](std::string_view got) -> std::optional<std::string> {
        if (!got.ends_with("\r\n\r\n")) return std::nullopt;
        return said;
      },
      open ? Pump::After::keeps : Pump::After::drops);
  auto answer = strict::read_answer(played.at_client, line.substr(0, line.find(' ')));
  if (!answer.rest.empty()) throw Fault{"the client got more than an answer"};
  if (answer.end == End::whole && played.was_reset) answer.end = End::cut;
  answer.rest = {};  // a view of bytes that end with this function
  return answer;
}

// Requests one URL twice. The origin's second answer is good, and the client must get it, unless
// the proxy stored the first one; it may store only a complete one.
bool Run::answer(const std::string& sent, const std::string& path) {
  static const std::string kGood = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood";
  static const std::vector<std::pair<std::string, std::string>> kKinds{
      {"GET", "1.1"}, {"GET", "1.1"}, {"GET", "1.0"}, {"DELETE", "1.1"}, {"HEAD", "1.1"}};
  const auto& [method, version] = kKinds[below(random, kKinds.size())];
  const auto expected = strict::read_answer(sent, method);
  const auto& fields = expected.message.fields;
  const bool open =
      expected.end == End::whole && std::any_of(fields.begin(), fields.end(), [](const auto& one) {
        return one.first == "content-length" || one.first == "transfer-encoding";
      });
  Pump& origin = open ? keeping : pump;
  const auto url = fmt::format("http://127.0.0.1:{}{}", origin.port(), path);
  const auto first = ask(origin, fmt::format("{} {} HTTP/{}", method, url, version), sent, open);
  const bool whole = check_answer(expected, first);
  const auto second = ask(origin, fmt::format("GET {} HTTP/1.1", url), kGood, open);
  if (second.end != End::whole) throw Fault{"the next answer is damaged"};
  if (second.message.body == "good") return whole;
  if (!whole || method != "GET")
    throw Fault{"an answer that may not be stored was, or it affected the next one"};
  const bool stored = second.status == first.status && second.message.body == first.message.body;
  if (!stored) throw Fault{"the next answer is neither the stored one nor the good one"};
  return whole;
}

std::size_t Run::answers(std::size_t count) {
  std::vector<std::string> messages;
  for (const auto& message : hostile_answers()) {
    const std::size_t times = message.status == 200 ? 6 : 1;
    if (message.text.size() < 5000) messages.insert(messages.end(), times, message.text);
  }
  std::size_t whole = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string text = mutated(messages, random);
    try {
      if (answer(text, "/a" + std::to_string(i))) ++whole;
    } catch (const Fault& fault) {
      record(text, fault.why);
    } catch (const std::exception& error) {
      record(text, error.what());
    }
  }
  return whole;
}

bool Run::still_answers() {
  const auto played = pump.play("GET /good HTTP/1.1\r\nHost: a.test\r\n\r\n", plain_answer);
  return strict::read_answer(played.at_client).message.body == "ok";
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t requests = 60'000;
  std::size_t answers = 40'000;
  std::uint64_t seed = 1;
  const auto exit_code =
      bench::parse(argc, argv, "Mutations of hostile messages, judged by a strict reader",
                   {
                       {"--requests", &requests, "mutations of requests"},
                       {"--answers", &answers, "mutations of origins' answers"},
                       {"--seed", &seed, "of the random numbers"},
                   });
  if (exit_code) return *exit_code;

  const auto begun = std::chrono::steady_clock::now();
  Run run;
  run.random.seed(seed);
  const auto forwarded = run.requests(requests);
  const auto whole = run.answers(answers);
  const bool well = run.still_answers();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  fmt::print("{} requests, {} forwarded; {} answers, {} passed on as whole; {} faults; {:.1f} s\n",
             requests, forwarded, answers, whole, run.faults, took.count());
  if (!well) fmt::print("the proxy does not answer any more\n");
  return run.faults == 0 && well ? 0 : 1;
}
