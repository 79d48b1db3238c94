// The connections of clients, and what they hold.
#pragma once

#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <functional>
#include <optional>

#include "proxy/crowd/bandwidth.hpp"
#include "proxy/crowd/client_table.hpp"
#include "proxy/crowd/descriptors.hpp"
#include "proxy/crowd/doorkeeper.hpp"
#include "proxy/crowd/relief.hpp"
#include "proxy/crowd/warnings.hpp"
#include "proxy/crowd/whom_to_end.hpp"
#include "proxy/observe/request_record.hpp"

namespace proxy::crowd {

struct CrowdOfThread;

// The state of the crowd that all threads share. Outlives all connections.
struct Crowd {
  Crowd(machine::Clock& clock, const DescriptorLimits& limits)
      : descriptors(limits), bandwidth(clock) {}

  DescriptorLimits descriptors;
  ClientTable clients{};
  ClientTable operators{};  // the connections to the control socket
  Bandwidth bandwidth;
  Warnings warnings{};
  std::atomic<std::uint64_t> unread_in_transit{0};  // of all clients: see ClientShare
  std::atomic<std::uint64_t> head_bytes{0};         // likewise
  std::atomic<std::uint64_t> leaving_heads{0};      // of requests that were cut and have yet to end
  std::atomic<std::uint64_t> leaving_bytes{0};  // of responses that were cut and have yet to end
  // Runs the work for each thread, on that thread, soon. Returns at once. Empty: there is only one
  // thread.
  std::function<void(const std::function<void(CrowdOfThread&)>&)> on_each_thread = {};
};

// The connections of one thread, so that a drain, Relief and the Doorkeeper can end some. Belongs
// to that thread. An item leaves the list when it is destroyed.
class SessionList {
 public:
  class Item : public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
               boost::noncopyable {
   public:
    explicit Item(SessionList& list) { list.items_.push_back(*this); }
    virtual ~Item() = default;
    // Ends the connection if it waits for a request.
    virtual void drain() = 0;
    // Returns the memory of the response under way that makes no progress, and counts it in the
    // client's share.
    virtual Unread count_unread() = 0;
    // Returns the memory that the head of a request takes, and since when. `by_client`: the head
    // has arrived in part.
    [[nodiscard]] virtual Unread held_head() const = 0;
    // How long the connection waits for a request. Nothing: a request is being answered.
    [[nodiscard]] virtual std::optional<WaitingConnection> waits() const = 0;
    [[nodiscard]] virtual const ClientTable::Guest& guest() const = 0;
    // Ends the connection, whatever it does. A response that has begun is cut so that the client
    // can tell. Logs `why`.
    virtual void cut(observe::Cut why) = 0;
  };

  void drain() {
    for (auto& item : items_) item.drain();
  }
  // The connections of this thread, in the order of their arrival.
  [[nodiscard]] auto& items() { return items_; }
  [[nodiscard]] bool empty() const { return items_.empty(); }

 private:
  boost::intrusive::list<Item, boost::intrusive::constant_time_size<false>> items_;
};

// The connections of one I/O thread, and what looks after them. Belongs to that thread.
struct CrowdOfThread {
  // `all` and what the needs refer to outlive this object.
  CrowdOfThread(Crowd& of_all, const Relief::Needs& needs, upstream::Pool& pool)
      : all(of_all), relief(*this, needs), doorkeeper(*this, pool, needs.clock) {}

  Crowd& all;
  SessionList sessions;
  Relief relief;
  Doorkeeper doorkeeper;
};

}  // namespace proxy::crowd
