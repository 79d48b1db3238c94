// The connections of one thread, so that a drain can close idle ones.
#pragma once

#include <boost/intrusive/list.hpp>

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
  };

  void drain() {
    for (auto& item : items_) item.drain();
  }
  [[nodiscard]] bool empty() const { return items_.empty(); }

 private:
  boost::intrusive::list<Item, boost::intrusive::constant_time_size<false>> items_;
};

}  // namespace proxy
