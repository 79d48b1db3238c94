// The connections of one thread, so that a drain, Relief and the Doorkeeper can end some.
#pragma once

#include <boost/intrusive/list.hpp>
#include <optional>

#include "proxy/crowd/client_table.hpp"
#include "proxy/crowd/whom_to_end.hpp"
#include "proxy/observe/request_record.hpp"

namespace proxy {

// Belongs to one thread. An item leaves the list when it is destroyed.
class SessionList {
 public:
  class Item : public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
   public:
    explicit Item(SessionList& list) { list.items_.push_back(*this); }
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;
    virtual ~Item() = default;
    // Ends the connection if it waits for a request.
    virtual void drain() = 0;
    // What the response under way holds because it does not get on; counts it in the client's
    // share.
    virtual Unread count_unread() = 0;
    // What the head of the request holds, since when. `by_client`: it has arrived in part.
    [[nodiscard]] virtual Unread held_head() const = 0;
    // Nothing: a request is being answered.
    [[nodiscard]] virtual std::optional<Waiting> waits() const = 0;
    [[nodiscard]] virtual const ClientTable::Guest& guest() const = 0;
    // Ends the connection, whatever it does. A response that has begun is cut so that the client
    // can tell. Logs `why`.
    virtual void cut(Cut why) = 0;
  };

  void drain() {
    for (auto& item : items_) item.drain();
  }
  // All connections, in the order of their arrival.
  [[nodiscard]] auto& items() { return items_; }
  [[nodiscard]] bool empty() const { return items_.empty(); }

 private:
  boost::intrusive::list<Item, boost::intrusive::constant_time_size<false>> items_;
};

}  // namespace proxy
