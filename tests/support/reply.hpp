// What a scripted origin answers: a head and a body as steps, some of which wait for the test.
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

// Shut until a test opens it. Copies are one gate. Any thread.
class Gate {
 public:
  void open();
  // False if asked to stop before the gate opened.
  bool wait(std::stop_token stop) const;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Steps are played in the order of the calls. The head goes out before the first step of the body;
// what waits before that holds the head back. A reply without a body says Content-Length: 0.
class Reply {
 public:
  explicit Reply(int status = 200, Fields fields = {});
  // These bytes and nothing else, then the connection is closed.
  static Reply raw(std::string bytes);
  // The connection is closed without a byte.
  static Reply hang_up() { return raw(""); }

  Reply& with(std::string name, std::string value);
  // The whole body, sized.
  Reply& body(std::string bytes);
  // Announces a body of that size, to be sent in pieces.
  Reply& sized(std::uint64_t bytes);
  Reply& chunked();
  Reply& interim(std::string_view start_line, const Fields& fields);
  Reply& send(std::string bytes);
  Reply& wait(Gate gate);
  // The head goes out now.
  Reply& start();
  // The connection is closed here, whatever was announced.
  Reply& cut();
  // As over a long way: the answer begins only then, and the connection takes no more bytes per
  // second than that.
  Reply& slow(std::chrono::milliseconds delay, std::uint64_t bytes_per_second);
  std::chrono::milliseconds delay() const { return delay_; }
  std::uint64_t rate() const { return rate_; }  // 0: as fast as it can

  struct Step {
    enum class Kind { head, text, body, wait, close } kind;
    std::string bytes;
    Gate gate;
  };
  // All that is to be done, the end of the body included.
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

// 200 with this body and this Cache-Control.
Reply cacheable(std::string body, std::string cache_control = "max-age=3600");

}  // namespace support
