// What the model learns from an exchange: the responses that may be stored from then on.
#include "tests/scenario/model/model.hpp"

#include <algorithm>

namespace model {

namespace {

// Resolves a reference in a response about `path`. Stories use "1", "/1", "" and URLs.
std::string resolved(const std::string& reference, const std::string& path) {
  return reference == "1" ? "/1" : reference.empty() ? path : reference;
}

}  // namespace

bool passed_as_it_is(const Ask& ask, const Ask& sent) {
  return sent.method != "GET" || has(ask.fields, "If-Match") || forbids_storing(ask);
}

Stored* Model::by_serial(const Answer& response) {
  const auto serial = value(response.fields, "X-Serial");
  for (Stored& one : held_) {
    if (!serial.empty() && value(one.answer.fields, "X-Serial") == serial) return &one;
  }
  return nullptr;
}

// RFC 9111 4.1: prefers a response with Vary; 4: then the later Date, then the later arrival.
const Stored* Model::most_recent(const Ask& ask) const {
  const Stored* best = nullptr;
  for (const Stored& one : held_) {
    if (one.ask.url != ask.url || !selects(one, ask)) continue;
    if (!best || !is_preferred(*best, one, 0)) best = &one;
  }
  return best;
}

// The response whose validators were sent to the origin.
const Stored* Model::asked_of(const Ask& ask, const Ask& sent) const {
  const auto tags = members(sent.fields, "If-None-Match");  // the client's tags may be among them
  const auto time = value(sent.fields, "If-Modified-Since");
  const Stored* best = nullptr;
  const auto names = [&](const std::string& tag) {
    return tag.empty() ? tags.empty() : std::find(tags.begin(), tags.end(), tag) != tags.end();
  };
  for (const Stored& one : held_) {
    const Fields& fields = one.answer.fields;
    if (one.ask.url != ask.url || !selects(one, ask) || (tags.empty() && time.empty())) continue;
    if (!names(agreed(fields, "ETag")) || agreed(fields, "Last-Modified") != time) continue;
    if (!best || !is_preferred(*best, one, 0)) best = &one;
  }
  return best;
}

void Model::learn(const Ask& ask, const Exchange& exchange) {
  ++answers_;
  validated_.reset();
  const Answer& got = exchange.got;
  if (got.cut) return;
  const bool safe = ask.method == "GET" || ask.method == "HEAD" || ask.method == "OPTIONS";
  if (!safe) learn_of_change(ask, got);
  if (ask.method == "HEAD") return learn_of_head(ask, exchange);
  if (ask.method == "POST") return learn_whole(ask, exchange);
  if (passed_as_it_is(ask, exchange.sent)) return;
  if (got.status == 304) return learn_unmodified(ask, exchange);
  if (got.status != 206 || has(exchange.sent.fields, "Range")) learn_whole(ask, exchange);
}

// RFC 9111 4.4.
void Model::learn_of_change(const Ask& ask, const Answer& answer) {
  if (answer.status < 200 || answer.status >= 400) return;
  std::vector<std::string> changed{path_of(ask.url)};
  for (const auto* name : {"Location", "Content-Location"}) {
    if (has(answer.fields, name)) {
      changed.push_back(resolved(value(answer.fields, name), path_of(ask.url)));
    }
  }
  std::erase_if(held_, [&](const Stored& one) {
    return std::find(changed.begin(), changed.end(), path_of(one.ask.url)) != changed.end();
  });
}

// RFC 9111 3; of POST, RFC 9110 9.3.3.
void Model::learn_whole(const Ask& ask, const Exchange& exchange) {
  const Stored stored{answers_, ask, exchange.got, exchange.asked, exchange.answered};
  if (ask.method == "POST") {
    const auto here = lines(stored.answer.fields, "Content-Location");
    const auto path = path_of(ask.url);
    const bool is_this = here.size() == 1 && resolved(here[0], path) == path;
    const bool fresh = lifetime(stored) > age(stored, stored.answered);
    if (stored.answer.status != 200 || !is_this || !is_explicit(stored) || !fresh) return;
  }
  const Stored* const before = ask.method == "GET" ? most_recent(ask) : nullptr;
  if (may_store(stored) && is_useful(stored)) {
    if (before)
      drop(before->number);  // replaces the response that the request selected (RFC 9111 4.3.3)
    return keep(stored);
  }
  const int status = stored.answer.status;
  const bool another_state = status < 400 || status == 404 || status == 410;
  const bool for_one = has(ask.fields, "Authorization") || stored.control().means_all("private");
  if (before && another_state && !for_one) drop_all(ask.url);
}

void Model::keep(const Stored& stored) {
  std::erase_if(held_, [&](const Stored& one) {
    return one.ask.url == stored.ask.url && same_selection(one, stored);
  });
  held_.push_back(stored);
}

// RFC 9111 4.3.3, 4.3.4.
void Model::learn_unmodified(const Ask& ask, const Exchange& exchange) {
  const Stored* const spoken_of = asked_of(ask, exchange.sent);
  const bool alone = members(exchange.sent.fields, "If-None-Match").size() < 2;
  if (!spoken_of || !identifies(exchange.got, *spoken_of, alone)) return;
  const Stored before = *spoken_of;
  Stored after = before;
  freshen(after, exchange);
  after.ask = ask;
  validated_ = after;
  if (may_store(after) && is_useful(after)) {
    drop(before.number);
    return keep(after);
  }
  // A response to one client's credentials does not remove what is stored for all.
  if (!has(ask.fields, "Authorization")) drop_all(ask.url);
}

// RFC 9111 4.3.5.
void Model::learn_of_head(const Ask& ask, const Exchange& exchange) {
  const Answer& got = exchange.got;
  const Stored* const spoken_of = most_recent(ask);
  const bool about_all = !has(ask.fields, "Authorization") && !forbids_storing(ask);
  const bool of_state = got.status == 200 || got.status == 404 || got.status == 410;
  if (!spoken_of || !about_all || !of_state) return;
  Stored after = *spoken_of;
  bool same = got.status == after.answer.status;
  for (const auto* name : {"ETag", "Last-Modified"}) {
    same = same &&
           (!has(got.fields, name) || value(got.fields, name) == agreed(after.answer.fields, name));
  }
  const auto size = value(got.fields, "Content-Length");
  same = same && (size.empty() || number(size) == static_cast<Seconds>(after.answer.body.size()));
  const int number = after.number;
  freshen(after, exchange);
  after.ask = ask;
  after.ask.method = "GET";
  const bool keeps = same && may_store(after) && is_useful(after);
  drop(number);
  if (keeps) return keep(after);
  drop_all(ask.url);
}

void Model::drop(int number) {
  std::erase_if(held_, [&](const Stored& one) { return one.number == number; });
}

void Model::drop_all(int url) {
  std::erase_if(held_, [&](const Stored& one) { return one.ask.url == url; });
}

}  // namespace model
