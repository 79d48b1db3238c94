// How far one response is, and what it holds and waits for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "proxy/crowd/bandwidth.hpp"
#include "proxy/fill/fill.hpp"

namespace proxy {

// The request path and the ResponseWriter share it. Belongs to the connection's thread, and serves
// one response after the other.
struct ResponseState {
  // Additional fields of this response, besides those in the head of ResponseWriter::start(). Add
  // them before that call.
  std::string fields;
  bool head_only = false;  // the request is a HEAD
  // Nothing waits from now on until this response is finished. Its bytes may then be held back for
  // a moment, to be sent together with the next response.
  bool may_be_held_back = false;
  bool started = false;
  bool finished = false;
  bool was_cut = false;
  // The account of the connection, by which this response keeps to the limits of bandwidth. Null:
  // it keeps to none.
  BandwidthUse* bandwidth = nullptr;
  FillReader* reader = nullptr;  // see ReadsFrom
  std::uint64_t holds = 0;       // bytes: see Holds
  std::function<void()> leave;   // see WaitsFor

  // The next response. `head_only` stays as it is.
  void begin() {
    fields.clear();
    bandwidth = nullptr;
    may_be_held_back = started = finished = was_cut = false;
  }
  // Ends the wait for a source. The caller aborts the response.
  void cut() {
    was_cut = true;
    if (leave) leave();
  }

  // While this object exists, the request or its response waits for a source. cut() calls `leave`,
  // which makes the wait fail. If the response was cut before, the constructor calls it.
  class WaitsFor {
   public:
    WaitsFor(ResponseState& state, std::function<void()> leave) : state_(state) {
      if (state.was_cut) leave();
      before_ = std::exchange(state.leave, std::move(leave));
    }
    ~WaitsFor() { state_.leave = std::move(before_); }
    WaitsFor(const WaitsFor&) = delete;
    WaitsFor& operator=(const WaitsFor&) = delete;

   private:
    ResponseState& state_;
    std::function<void()> before_;
  };
  // While this object exists, the response waits for the reader's bytes, or sends them.
  class ReadsFrom {
   public:
    ReadsFrom(ResponseState& state, FillReader& reader) : state_(state) { state.reader = &reader; }
    ~ReadsFrom() { state_.reader = nullptr; }
    ReadsFrom(const ReadsFrom&) = delete;
    ReadsFrom& operator=(const ReadsFrom&) = delete;

   private:
    ResponseState& state_;
  };
  // While this object exists, the response holds memory that is charged to `transit`, the memory of
  // bodies on their way. A cut gives it back.
  class Holds {
   public:
    Holds(ResponseState& state, cache::Budget& transit, std::uint64_t bytes)
        : state_(state), charge_(transit, bytes) {
      state.holds = bytes;
    }
    ~Holds() { state_.holds = 0; }
    Holds(const Holds&) = delete;
    Holds& operator=(const Holds&) = delete;

   private:
    ResponseState& state_;
    const cache::Charge charge_;
  };
};

}  // namespace proxy
