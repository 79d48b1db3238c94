#include "proxy/command/steer/top.hpp"

#include <unistd.h>

#include <chrono>

#include "proxy/command/interrupt.hpp"
#include "proxy/command/steer/top_text.hpp"

namespace proxy::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetween{1'000};
constexpr std::string_view kFromTheTop = "\x1b[H\x1b[2J";  // ECMA-48: home, then erase all

struct Look {
  Clock::time_point at;
  Samples samples;
  std::uint64_t bytes = 0;  // of the page, which the next look counts among those sent
};

Answered<Look> look(const Place& place) {
  const auto page = ask(place, view("/metrics"));
  if (!page) return page.error();
  if (page->status != 200) return refusal(place, *page);
  return Look{Clock::now(), Samples(page->body), page->bytes};
}

}  // namespace

SteerResult top(const Steer& steer, bool once) {
  const bool on_terminal = ::isatty(steer.streams.out) != 0;
  const bool goes_on = !once && (on_terminal || steer.json);
  const Interrupt interrupt;
  auto before = look(steer.place);
  if (!before) return before.error();
  for (;;) {
    if (interrupt.await_for(kBetween, steer.streams.out) != Awaited::over) return 0;
    auto now = look(steer.place);
    if (!now) return now.error();
    const auto rates =
        rates_between(before->samples, now->samples, now->at - before->at, before->bytes);
    std::string text(!steer.json && goes_on ? kFromTheTop : "");
    text += steer.json ? top_json(rates) : top_text(rates);
    auto printed = print_answer(steer, text);
    if (!printed || !goes_on) return printed;
    before = std::move(now);
  }
}

}  // namespace proxy::command
