#include "proxy/cache/s3_fifo.hpp"

namespace proxy::cache {

// As in the paper, ghosts reach back as far as main is large.
S3Fifo::S3Fifo(Budget& budget, std::uint64_t capacity)
    : small_target_(capacity / 10), ghosts_(budget, capacity - capacity / 10) {}

void S3Fifo::insert(Item& item) {
  item.in_main = ghosts_.recall(item.fingerprint);
  if (item.in_main) {
    main_.push_back(item);
  } else {
    small_.push_back(item);
    small_bytes_ += item.bytes;
  }
}

void S3Fifo::replace(Item& old, Item& fresh) {
  fresh.in_main = old.in_main;
  fresh.frequency = old.frequency;
  (old.in_main ? main_ : small_).insert(Queue::s_iterator_to(old), fresh);
  if (!fresh.in_main) small_bytes_ += fresh.bytes;
  erase(old);
}

void S3Fifo::erase(Item& item) {
  if (item.in_main) {
    main_.erase(Queue::s_iterator_to(item));
  } else {
    small_.erase(Queue::s_iterator_to(item));
    small_bytes_ -= item.bytes;
  }
}

S3Fifo::Item* S3Fifo::evict() {
  while (!small_.empty() || !main_.empty()) {
    const bool from_small = !small_.empty() && (small_bytes_ >= small_target_ || main_.empty());
    if (Item* item = from_small ? step_small() : step_main()) return item;
  }
  return nullptr;
}

S3Fifo::Item* S3Fifo::step_small() {
  Item& oldest = small_.front();
  erase(oldest);
  if (oldest.frequency > kPromoteAbove) {
    oldest.frequency = 0;
    oldest.in_main = true;
    main_.push_back(oldest);
    return nullptr;
  }
  ghosts_.remember(oldest.fingerprint, oldest.bytes);
  return &oldest;
}

S3Fifo::Item* S3Fifo::step_main() {
  Item& oldest = main_.front();
  erase(oldest);
  if (oldest.frequency == 0) return &oldest;
  --oldest.frequency;
  main_.push_back(oldest);
  return nullptr;
}

}  // namespace proxy::cache
