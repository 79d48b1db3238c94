#include "tests/support/scripted_origin.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/await.hpp"

namespace support {
ScriptedOrigin::ScriptedOrigin(Reach reach)
    : listener_(128, reach), acceptor_([this] { accept_all(); }) {}

ScriptedOrigin::~ScriptedOrigin() {
  listener_.shut_down();
  acceptor_.join();
  for (Connection& connection : connections_) {
    connection.thread.request_stop();
    connection.socket.shut_down();
  }
  connections_.clear();
}

void ScriptedOrigin::on(std::string path, Answer answer) {
  const std::lock_guard lock(mutex_);
  routes_[std::move(path)] = {std::move(answer)};
}

void ScriptedOrigin::on(std::string path, Reply reply) {
  on(std::move(path), [reply = std::move(reply)](const Request&) { return reply; });
}

void ScriptedOrigin::on_head(std::string path, Reply reply) {
  const std::lock_guard lock(mutex_);
  routes_[std::move(path)] = {[reply = std::move(reply)](const Request&) { return reply; }, true};
}

void ScriptedOrigin::never_asks(std::string path, Reply reply) {
  const std::lock_guard lock(mutex_);
  Route route{[reply = std::move(reply)](const Request&) { return reply; }};
  route.asks = false;
  routes_[std::move(path)] = std::move(route);
}

void ScriptedOrigin::otherwise(Answer answer) {
  const std::lock_guard lock(mutex_);
  otherwise_ = std::move(answer);
}

void ScriptedOrigin::sign_as(std::string name) {
  const std::lock_guard lock(mutex_);
  signature_ = "X-Cache: HIT from " + std::move(name) + "\r\n";
}

// With the signature after the status line, if these bytes begin with one. A line that continues no
// field stays such a line.
std::string ScriptedOrigin::signed_text(std::string bytes) const {
  const std::lock_guard lock(mutex_);
  const auto line_end = bytes.find("\r\n");
  const bool has_fields = line_end != bytes.npos && bytes.compare(line_end, 3, "\r\n ") != 0;
  if (bytes.starts_with("HTTP/1.") && has_fields) bytes.insert(line_end + 2, signature_);
  return bytes;
}

std::string ScriptedOrigin::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port()) + std::string(path);
}

std::vector<Request> ScriptedOrigin::requests() const {
  const std::lock_guard lock(mutex_);
  return {requests_.begin(), requests_.end()};
}

std::vector<Request> ScriptedOrigin::requests(std::string_view path) const {
  std::vector<Request> matching = requests();
  std::erase_if(matching, [&](const Request& request) { return request.path != path; });
  return matching;
}

std::size_t ScriptedOrigin::count() const {
  const std::lock_guard lock(mutex_);
  return requests_.size();
}

std::size_t ScriptedOrigin::count(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(),
                    [&](const Request& request) { return request.path == path; }));
}

bool ScriptedOrigin::await_requests(std::string_view path, std::size_t number) const {
  return await([&] { return count(path) >= number; });
}

std::size_t ScriptedOrigin::open_connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(),
                    [](const Connection& connection) { return !connection.over; }));
}

void ScriptedOrigin::accept_all() {
  while (auto socket = listener_.accept()) {
    const std::lock_guard lock(mutex_);
    connections_.remove_if([](const Connection& connection) { return connection.over.load(); });
    Connection& connection = connections_.emplace_back(std::move(*socket), accepted_++);
    connection.thread = std::jthread(
        [this, &connection](std::stop_token stop) { serve(connection, std::move(stop)); });
  }
}

// A malformed request fails the test. Other faults of the other side end the connection, and the
// test sees what is missing.
void ScriptedOrigin::serve(Connection& connection, std::stop_token stop) {
  try {
    Incoming<Request> incoming(connection.socket);
    std::size_t on_connection = 0;
    while (auto request = incoming.head()) {
      request->connection = connection.number;
      request->on_connection = on_connection++;
      std::unique_lock lock(mutex_);
      const auto recorded = requests_.insert(requests_.end(), std::move(*request));
      lock.unlock();
      const bool goes_on = answer_one(connection, incoming, *recorded, stop);
      if (!records_) {
        lock.lock();
        requests_.erase(recorded);
        lock.unlock();
      }
      if (!goes_on) break;
    }
  } catch (const Malformed& malformed) {
    ADD_FAILURE() << "an origin was sent " << malformed.what();
  } catch (const std::exception&) {
  }
  connection.socket.shut_down();
  connection.over = true;
}

bool ScriptedOrigin::answer_one(Connection& connection, Incoming<Request>& incoming,
                                Request& request, const std::stop_token& stop) {
  const Route route = route_for(request.path);
  if (!route.on_head) {
    if (route.asks && contains(request.field("Expect"), "100-continue")) {
      connection.socket.write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    read_body(incoming, request);
  }
  const Reply reply = route.answer(request);
  if (!play(connection.socket, reply, request.method, stop)) return false;
  if (route.on_head) read_body(incoming, request);
  return true;
}

ScriptedOrigin::Route ScriptedOrigin::route_for(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto route = routes_.find(path);
  if (route != routes_.end()) return route->second;
  if (otherwise_) return {otherwise_};
  return {[](const Request&) { return Reply(404); }};
}

void ScriptedOrigin::read_body(Incoming<Request>& incoming, Request& request) {
  for (std::string piece = incoming.body_piece(); !piece.empty(); piece = incoming.body_piece()) {
    const std::lock_guard lock(mutex_);
    request.body += piece;
  }
  const std::lock_guard lock(mutex_);
  request.whole = incoming.body_whole();
}

// False if the connection is to be closed.
bool ScriptedOrigin::play(Socket& socket, const Reply& reply, std::string_view method,
                          std::stop_token stop) {
  using Kind = Reply::Step::Kind;
  constexpr std::size_t kPiece = 16384;  // small enough for body_bytes_sent() to follow
  std::this_thread::sleep_for(reply.delay());
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t paced = 0;
  for (auto step : reply.steps()) {
    if (step.kind != Kind::body) step.bytes = signed_text(std::move(step.bytes));
    if (step.kind == Kind::close) return false;
    if (step.kind == Kind::wait && !step.gate.wait(stop)) return false;
    if (step.kind == Kind::body && method == "HEAD") continue;
    while (step.kind == Kind::repeated && !stop.stop_requested() && socket.write(step.bytes)) {
    }
    for (std::size_t sent = 0; sent < step.bytes.size(); sent += kPiece) {
      const auto piece = std::string_view(step.bytes).substr(sent, kPiece);
      if (!socket.write(piece)) return false;
      if (step.kind == Kind::body) body_bytes_sent_ += piece.size();
      if (reply.rate() == 0) continue;
      paced += piece.size();
      std::this_thread::sleep_until(begun +
                                    std::chrono::microseconds(paced * 1'000'000 / reply.rate()));
      if (stop.stop_requested()) return false;
    }
  }
  return true;
}

}  // namespace support
