#include "tests/scenario/model/subject.hpp"

namespace model {
namespace {

std::string described(const Told& told, const std::vector<std::string>& problems) {
  std::string all;
  for (const auto& one : problems) all += one + "\n";
  for (const Exchange& exchange : told.exchanges) {
    all += "sent on:\n" + text(exchange.sent) + "got:\n" + text(exchange.got);
  }
  return all + "answered:\n" + text(told.response);
}

}  // namespace

std::string play(Subject& subject, const Story& story, const Scale& scale, Tally& tally) {
  const Seconds begun = subject.begin();
  Model model({.slack = scale.slack});
  for (const Step& step : story) {
    Ask ask = step.ask;
    ask.fields = expanded(ask.fields, begun, begun);
    const Told told = subject.ask(ask, step.origin, step.pause, model.answers() + 1);
    ++tally.requests;
    const auto problems = model.watch(ask, told);
    if (!problems.empty()) return "asked:\n" + text(ask) + described(told, problems);
  }
  tally.reused += model.reused();
  return "";
}

std::string play_all(Subject& subject, const Scale& scale, unsigned seed, unsigned stories,
                     int steps, Tally& tally) {
  for (unsigned i = 0; i < stories; ++i) {
    const Story story = random_story(seed + i, scale, steps);
    const auto first = play(subject, story, scale, tally);
    if (first.empty()) continue;
    Tally unused;
    const Story least = shortest(story, [&](const Story& shorter) {
      return !play(subject, shorter, scale, unused).empty();
    });
    const auto again = play(subject, least, scale, unused);
    return "seed " + std::to_string(seed + i) + ":\n" + text(least) +
           (again.empty() ? "once, and not again: " + first : again);
  }
  return "";
}

}  // namespace model
