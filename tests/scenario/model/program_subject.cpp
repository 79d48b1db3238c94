#include "tests/scenario/model/program_subject.hpp"

#include <chrono>

#include "tests/support/await.hpp"

namespace model {
namespace {

Seconds now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

bool names_a_place(const std::string& name) {
  return same_word(name, "Location") || same_word(name, "Content-Location");
}

}  // namespace

ProgramSubject::ProgramSubject() {
  origin_.otherwise([this](const support::Request& request) { return answer(request); });
}

Seconds ProgramSubject::begin() {
  const std::lock_guard lock(mutex_);
  prefix_ = "/story" + std::to_string(++stories_);
  return begun_ = now();
}

// "/1" is a path of the story.
Fields ProgramSubject::outside(Fields fields) const {
  for (Field& line : fields) {
    const bool place = names_a_place(line.name) && line.value.rfind('/', 0) == 0;
    if (place) line.value = prefix_ + line.value;
  }
  return fields;
}

Fields ProgramSubject::inside(const support::Fields& fields) const {
  Fields all;
  for (const auto& [name, value] : fields) {
    const bool place = names_a_place(name) && value.rfind(prefix_, 0) == 0;
    all.push_back({name, place ? value.substr(prefix_.size()) : value});
  }
  return all;
}

support::Reply ProgramSubject::answer(const support::Request& request) {
  const std::lock_guard lock(mutex_);
  const Ask sent{request.method, request.path.back() - '0', inside(request.fields)};
  const Answer got = react(*reaction_, sent, number_++, now(), begun_);
  told_.exchanges.push_back({sent, got, now(), now()});
  if (got.cut) return support::Reply::hang_up();
  support::Reply reply(got.status);
  for (const Field& line : outside(got.fields)) reply.with(line.name, line.value);
  const bool has_body = sent.method != "HEAD" && got.status != 204 && got.status != 304;
  if (has_body) reply.body(got.body);
  return reply;
}

support::Response ProgramSubject::request(const Ask& ask) {
  support::Fields fields;
  for (const Field& line : ask.fields) fields.emplace_back(line.name, line.value);
  if (!client_) client_ = std::make_unique<support::Client>(proxy_.port());
  auto response = client_->request(ask.method, origin_.url(prefix_ + path_of(ask.url)), fields);
  if (!response.whole || support::contains(response.field("Connection"), "close")) client_.reset();
  return response;
}

// The program sends a 304 to the client's condition before it has the origin's body.
void ProgramSubject::await_stored(const support::Response& response) {
  if (told_.exchanges.empty()) return;
  const Exchange& last = told_.exchanges.back();
  const bool counts = last.sent.method == "GET" && last.got.status != 304;
  if (!counts || !support::contains(response.field("Cache-Status"), "; stored")) return;
  ++stored_;
  if (response.status != 304) return;
  support::await([&] { return proxy_.metric("hearsay_stored_total") >= stored_; });
}

Told ProgramSubject::ask(const Ask& ask, const Reaction& reaction, Seconds, int number) {
  std::unique_lock lock(mutex_);
  reaction_ = &reaction;
  number_ = number;
  told_ = Told{};
  told_.begun = now();
  lock.unlock();
  const auto response = request(ask);
  lock.lock();
  await_stored(response);
  told_.answered = now();
  told_.response = {response.status, inside(response.fields), response.body, false};
  return told_;
}

}  // namespace model
