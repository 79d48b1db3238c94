// A stored response's place in the index.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/s3_fifo.hpp"
#include "proxy/cache/shard_claims.hpp"

namespace proxy::cache {

// An entry's node in the index. Charged to the entry's budget. A store has millions of nodes, so
// the order of its parts leaves no gaps. A node without an OnDisk has no room for one.
struct Node : S3Fifo::Item, Claimable {
  static std::unique_ptr<Node> make(const digest::Key& its_key, Kept kept);
  static void operator delete(Node* node, std::destroying_delete_t destroys);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Whether it is a block of an object, which has no head of its own.
  [[nodiscard]] bool is_block() const { return entry->head().empty(); }
  [[nodiscard]] const std::shared_ptr<OnDisk>& on_disk() const;  // as in Kept
  // Whether its response is on disk already.
  [[nodiscard]] bool is_on_disk() const;

  std::uint32_t hits : 31 = 0;  // how often the response was found; a validation keeps the count
  const bool has_on_disk : 1;   // whether it is a NodeOverDisk
  const Ref<const Entry> entry;
  std::unique_ptr<Node> next;  // the next older variant of the URL

 protected:
  Node(const digest::Key& its_key, Kept kept, bool over_disk);
};
static_assert(sizeof(Node) == 96);

}  // namespace proxy::cache
