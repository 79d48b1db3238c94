// The response of a scripted origin: steps that send bytes, or wait for the test. The bytes are
// written as they are, without Beast's serializer, which sends no malformed or cut message.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/message.hpp"

namespace support {

// Shut until a test opens it. Copies share one state. Any thread.
class Gate {
 public:
  void open();
  // Waits until the gate is open; false if `stop` is requested before.
  bool wait(std::stop_token stop) const;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Steps are played in the order of the calls. The head is sent before the first step of the body,
// so a wait() before that step delays the head too. A reply without a body has Content-Length: 0.
class Reply {
 public:
  explicit Reply(int status = 200, Fields fields = {});
  // Sends these bytes alone, then closes the connection.
  static Reply raw(std::string bytes);
  // Closes the connection without a byte.
  static Reply hang_up() { return raw(""); }
  // Sends `bytes`, then `rest` again and again until the client leaves.
  static Reply endless(std::string bytes, std::string rest);

  Reply& with(std::string name, std::string value);
  // The whole body, with its Content-Length.
  Reply& body(std::string bytes);
  // Announces a body of so many bytes, for send() to supply.
  Reply& sized(std::uint64_t bytes);
  Reply& chunked();
  Reply& interim(std::string_view start_line, const Fields& fields);
  Reply& send(std::string bytes);
  Reply& wait(Gate gate);
  // Sends the head now.
  Reply& start();
  // Closes the connection here, whatever was announced.
  Reply& cut();
  // Like a distant origin: begins after `delay`, and sends at most so many bytes per second.
  Reply& slow(std::chrono::milliseconds delay, std::uint64_t bytes_per_second);
  std::chrono::milliseconds delay() const { return delay_; }
  std::uint64_t rate() const { return rate_; }  // bytes per second; 0: unlimited

  struct Step {
    enum class Kind { head, text, body, repeated, wait, close } kind;
    std::string bytes;
    Gate gate;
  };
  // All steps, the end of a chunked body included.
  std::vector<Step> steps() const;

 private:
  void add(Step::Kind kind, std::string bytes, Gate gate = {});
  bool needs_length() const;

  int status_;
  Fields fields_;
  bool started_ = false;
  bool has_body_ = false;
  bool chunked_ = false;
  bool cut_ = false;
  std::chrono::milliseconds delay_{0};
  std::uint64_t rate_ = 0;
  std::vector<Step> steps_;
};

// A 200 with this body and this Cache-Control.
Reply cacheable(std::string body, std::string cache_control = "max-age=3600");

}  // namespace support
