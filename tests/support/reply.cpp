#include "tests/support/reply.hpp"

namespace support {

void Gate::open() {
  const std::lock_guard lock(state_->mutex);
  state_->open = true;
  state_->changed.notify_all();
}

bool Gate::wait(std::stop_token stop) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait(lock, stop, [this] { return state_->open; });
}

Reply::Reply(int status, Fields fields) : status_(status), fields_(std::move(fields)) {}

Reply Reply::raw(std::string bytes) {
  Reply reply;
  reply.started_ = true;
  reply.add(Step::Kind::text, std::move(bytes));
  return reply.cut();
}

Reply Reply::endless(std::string bytes, std::string rest) {
  Reply reply;
  reply.started_ = true;
  reply.add(Step::Kind::text, std::move(bytes));
  reply.add(Step::Kind::repeated, std::move(rest));
  return reply.cut();
}

Reply& Reply::with(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
  return *this;
}

Reply& Reply::body(std::string bytes) {
  return sized(bytes.size()).send(std::move(bytes));
}

Reply& Reply::sized(std::uint64_t bytes) {
  return with("Content-Length", std::to_string(bytes));
}

Reply& Reply::chunked() {
  chunked_ = has_body_ = true;
  return with("Transfer-Encoding", "chunked");
}

Reply& Reply::interim(std::string_view start_line, const Fields& fields) {
  add(Step::Kind::text, head_text(start_line, fields));
  return *this;
}

Reply& Reply::send(std::string bytes) {
  start();
  has_body_ = true;
  add(Step::Kind::body, chunked_ ? chunk(bytes) : std::move(bytes));
  return *this;
}

Reply& Reply::wait(Gate gate) {
  add(Step::Kind::wait, {}, std::move(gate));
  return *this;
}

bool Reply::needs_length() const {
  const Head head{{}, fields_};
  return !has_body_ && status_ != 204 && status_ != 304 && !head.has("Content-Length");
}

Reply& Reply::start() {
  if (!started_) add(Step::Kind::head, {});
  started_ = true;
  return *this;
}

Reply& Reply::cut() {
  start();
  add(Step::Kind::close, {});
  cut_ = has_body_ = true;
  return *this;
}

Reply& Reply::slow(std::chrono::milliseconds delay, std::uint64_t bytes_per_second) {
  delay_ = delay;
  rate_ = bytes_per_second;
  return *this;
}

void Reply::add(Step::Kind kind, std::string bytes, Gate gate) {
  steps_.push_back({kind, std::move(bytes), std::move(gate)});
}

// Writes the head last, as with() may be called after the head was started.
std::vector<Reply::Step> Reply::steps() const {
  Reply finished = *this;
  finished.start();
  if (finished.needs_length()) finished.sized(0);
  const std::string start_line = "HTTP/1.1 " + std::to_string(status_) + " Scripted";
  for (Step& step : finished.steps_) {
    if (step.kind == Step::Kind::head) step.bytes = head_text(start_line, finished.fields_);
  }
  if (chunked_ && !cut_) finished.add(Step::Kind::body, std::string(kLastChunk));
  return finished.steps_;
}

Reply cacheable(std::string body, std::string cache_control) {
  return Reply().with("Cache-Control", std::move(cache_control)).body(std::move(body));
}

}  // namespace support
