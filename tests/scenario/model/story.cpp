#include "tests/scenario/model/story.hpp"

#include <algorithm>

#include "tests/scenario/model/words.hpp"

namespace model {
namespace {

std::string quoted_text(const Fields& fields) {
  std::string all;
  for (const Field& line : fields) all += " [" + line.name + ": " + line.value + "]";
  return all;
}

bool heeds_condition(const Reaction& reaction, const Fields& fields, const Ask& sent) {
  if (reaction.kind == Reaction::Kind::always_unmodified) return true;
  if (reaction.kind != Reaction::Kind::honest || reaction.status != 200) return false;
  if (has(sent.fields, "If-None-Match")) {
    const auto etag = value(fields, "ETag");
    const auto asked = members(sent.fields, "If-None-Match");
    return !etag.empty() && std::find(asked.begin(), asked.end(), etag) != asked.end();
  }
  const auto modified = value(fields, "Last-Modified");
  return !modified.empty() && value(sent.fields, "If-Modified-Since") == modified;
}

// Removes from the list all that can be removed.
template <class T, class Fails>
void shorten(std::vector<T>& list, const Fails& fails) {
  for (std::size_t i = list.size(); i-- > 0;) {
    const T taken = list[i];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    if (!fails()) list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), taken);
  }
}

template <class T, class Fails>
void simplify(T& value, const T& simple, const Fails& fails) {
  const T before = value;
  value = simple;
  if (!fails()) value = before;
}

}  // namespace

std::string expanded(const std::string& value, Seconds now, Seconds begun) {
  const auto kind = std::string("@%&$").find(value.substr(0, 1));
  if (value.size() < 2 || kind == std::string::npos) return value;
  const DateStyle styles[] = {DateStyle::imf, DateStyle::rfc850, DateStyle::asctime,
                              DateStyle::imf};
  return date_text((kind == 3 ? begun : now) + std::stol(value.substr(1)), styles[kind]);
}

Fields expanded(const Fields& fields, Seconds now, Seconds begun) {
  Fields all = fields;
  for (Field& line : all) line.value = expanded(line.value, now, begun);
  return all;
}

Answer react(const Reaction& reaction, const Ask& sent, int number, Seconds now, Seconds begun) {
  if (reaction.kind == Reaction::Kind::cut) return {0, {}, "", true};
  const Fields fields = expanded(reaction.fields, now, begun);
  if (heeds_condition(reaction, fields, sent)) {
    return {304, expanded(reaction.unmodified, now, begun), "", false};
  }
  Answer answer{reaction.status, fields, body_of(sent.url, reaction.version), false};
  if (sent.method == "HEAD") {
    answer.fields.push_back({"Content-Length", std::to_string(answer.body.size())});
    answer.body.clear();
    return answer;
  }
  if (answer.status == 204) answer.body.clear();
  answer.fields.push_back({"X-Serial", std::to_string(number)});
  return answer;
}

Story shortest(Story story, const std::function<bool(const Story&)>& fails) {
  const auto still = [&] { return fails(story); };
  for (bool again = true; again;) {
    const auto before = text(story);
    shorten(story, still);
    for (Step& step : story) {
      shorten(step.ask.fields, still);
      shorten(step.origin.fields, still);
      shorten(step.origin.unmodified, still);
      simplify(step.pause, Seconds(0), still);
      simplify(step.origin.delay, Seconds(0), still);
      simplify(step.origin.status, 200, still);
      simplify(step.origin.version, 0, still);
      simplify(step.ask.url, 0, still);
      simplify(step.ask.method, std::string("GET"), still);
      simplify(step.origin.kind, Reaction::Kind::honest, still);
    }
    again = text(story) != before;
  }
  return story;
}

std::string text(const Story& story) {
  static const char* const kKinds[] = {"", " always whole", " always 304", " cut"};
  std::string all;
  for (const Step& step : story) {
    const Reaction& origin = step.origin;
    all += "+" + std::to_string(step.pause) + " " + step.ask.method + " " + path_of(step.ask.url) +
           quoted_text(step.ask.fields) + "\n     -> " + std::to_string(origin.status) + " v" +
           std::to_string(origin.version) + kKinds[static_cast<int>(origin.kind)] + " after " +
           std::to_string(origin.delay) + quoted_text(origin.fields);
    if (!origin.unmodified.empty()) all += "\n     304:" + quoted_text(origin.unmodified);
    all += "\n";
  }
  return all;
}

}  // namespace model
