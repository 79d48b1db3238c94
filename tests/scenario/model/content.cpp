// What a client receives of a stored response: status, body, fields.
#include <algorithm>
#include <cstdlib>

#include "tests/scenario/model/model.hpp"

namespace model {
namespace {

struct Part {
  bool unsatisfiable = false;
  std::size_t first = 0, size = 0;
};

// RFC 9110 14.1.2, for a single range; none for the whole.
std::optional<Part> part_wanted(const Stored& stored, const Ask& ask) {
  const auto range = value(ask.fields, "Range");
  const auto if_range = value(ask.fields, "If-Range");
  const auto etag = lines(stored.answer.fields, "ETag");
  if (ask.method != "GET" || range.rfind("bytes=", 0) != 0) return {};
  const bool strong = etag.size() == 1 && etag[0].rfind('"', 0) == 0;
  if (has(ask.fields, "If-Range") && !(strong && if_range == etag[0])) return {};
  const auto dash = range.find('-');
  const auto size = static_cast<Seconds>(stored.answer.body.size());
  const std::string before = range.substr(6, dash - 6), after = range.substr(dash + 1);
  const auto first = number(before), last = number(after);
  if ((!first && !before.empty()) || (!last && !after.empty())) return {};
  if (!first) {
    if (size == 0) return {};
    const Seconds suffix = std::min(size, *last);
    return Part{false, static_cast<std::size_t>(size - suffix), static_cast<std::size_t>(suffix)};
  }
  if (last && *first > *last) return {};
  if (*first >= size) return Part{true};
  const Seconds end = std::min(size, last.value_or(size) + 1);
  return Part{false, static_cast<std::size_t>(*first), static_cast<std::size_t>(end - *first)};
}

bool is_of_the_message(const Field& line) {
  static const std::string kNames[] = {"via",        "cache-status",   "age",
                                       "connection", "content-length", "transfer-encoding",
                                       "keep-alive", "content-range"};
  return std::find(std::begin(kNames), std::end(kNames), lower(line.name)) != std::end(kNames);
}

std::vector<std::string> sorted(Fields fields) {
  std::erase_if(fields, is_of_the_message);
  std::vector<std::string> all;
  for (const Field& line : fields) all.push_back(lower(line.name) + ": " + trim(line.value));
  std::sort(all.begin(), all.end());
  return all;
}

// The fields that a 304 must have (RFC 9110 15.4.5). Its other fields are not judged.
void leave_to_304(Fields& due, Fields& told) {
  static const std::string kNames[] = {"content-location", "date",    "etag",
                                       "cache-control",    "expires", "vary"};
  const auto is_other = [](const Field& line) {
    return std::find(std::begin(kNames), std::end(kNames), lower(line.name)) == std::end(kNames);
  };
  std::erase_if(due, is_other);
  std::erase_if(told, is_other);
}

std::string difference(const std::vector<std::string>& held, const std::vector<std::string>& told) {
  std::vector<std::string> lost, added;
  std::set_difference(held.begin(), held.end(), told.begin(), told.end(), std::back_inserter(lost));
  std::set_difference(told.begin(), told.end(), held.begin(), held.end(),
                      std::back_inserter(added));
  std::string text;
  for (const auto& line : lost) text += " -[" + line + "]";
  for (const auto& line : added) text += " +[" + line + "]";
  return text;
}

}  // namespace

void Model::check_content(const Stored& stored, const Ask& ask, const Told& told) {
  const Answer& response = told.response;
  int status = stored.answer.status;
  std::string body = ask.method == "HEAD" ? "" : stored.answer.body;
  if (status == 200 && unmodified(stored, ask)) {
    status = 304;
    body.clear();
  } else if (const auto part = status == 200 ? part_wanted(stored, ask) : std::nullopt) {
    if (part->unsatisfiable && response.status == 416) return;
    if (part->unsatisfiable) return problem("416 was due");
    status = 206;
    body = body.substr(part->first, part->size);
  }
  if (response.status != status) {
    problem("answered " + std::to_string(response.status) + " where " + std::to_string(status) +
            " was due");
  } else if (response.body != body) {
    problem("another body: " + response.body);
  }

  Fields fields = response.fields;
  Fields due = kept_fields(stored);
  // The validation adds the fields that are for this client alone.
  if (validated_ && !told.exchanges.empty()) {
    const Control control(stored.answer.fields);
    for (const auto* directive : {"private", "no-cache"}) {
      for (const auto& name : control.names(directive)) remove(fields, name);
    }
    if (!may_keep_cookie(control)) remove(fields, "Set-Cookie");
  }
  if (response.status == 304) leave_to_304(due, fields);
  if (!has(due, "Date")) {
    if (!has(fields, "Date")) problem("no Date was supplied");
    remove(fields, "Date");
  }
  const auto changed = difference(sorted(due), sorted(fields));
  if (!changed.empty()) problem("fields changed:" + changed);

  const auto said = number(value(response.fields, "Age"));
  const Seconds should = age(stored, told.answered);
  const bool later = said && std::abs(*said - std::min(should, kForever)) > leave_.slack;
  if (!said || later) {
    problem("Age is " + value(response.fields, "Age") + ", not " + std::to_string(should));
  }
}

}  // namespace model
