#include "proxy/cache/node.hpp"

#include <utility>

#include "proxy/cache/on_disk.hpp"

namespace proxy::cache {
namespace {

// A node's share of a flat set just after the set has grown (slot size over 0.875 / 2, and its
// metadata), and what the allocator notes of the node and of the entry.
constexpr std::uint64_t kSlotBytes = 32;

// What make_shared() and malloc add to a shared object.
constexpr std::uint64_t kSharedBytes = 32;

// The node of a response that is on disk, too, or will be.
struct NodeOverDisk final : Node {
  NodeOverDisk(const digest::Key& its_key, Kept kept)
      : Node(its_key, {std::move(kept.entry)}, true), place(std::move(kept.on_disk)) {}

  const std::shared_ptr<OnDisk> place;
};

const std::shared_ptr<OnDisk> kNotOnDisk;

std::uint64_t node_bytes(bool over_disk) {
  if (!over_disk) return heap_bytes(sizeof(Node)) + kSlotBytes;
  return heap_bytes(sizeof(NodeOverDisk)) + kSlotBytes + heap_bytes(sizeof(OnDisk) + kSharedBytes);
}

}  // namespace

std::unique_ptr<Node> Node::make(const digest::Key& its_key, Kept kept) {
  Node* const node = kept.on_disk ? new NodeOverDisk(its_key, std::move(kept))
                                  : new Node(its_key, std::move(kept), false);
  return std::unique_ptr<Node>(node);
}

Node::Node(const digest::Key& its_key, Kept kept, bool over_disk)
    : Item(kept.entry->footprint() + node_bytes(over_disk)),
      Claimable(its_key),
      has_on_disk(over_disk),
      entry(std::move(kept.entry)) {
  entry->budget().charge(node_bytes(has_on_disk));
}

Node::~Node() {
  entry->budget().release(node_bytes(has_on_disk));
}

void Node::operator delete(Node* node, std::destroying_delete_t /*destroys*/) {
  if (node->has_on_disk) {
    static_cast<NodeOverDisk*>(node)->~NodeOverDisk();
  } else {
    node->~Node();
  }
  ::operator delete(node);
}

const std::shared_ptr<OnDisk>& Node::on_disk() const {
  return has_on_disk ? static_cast<const NodeOverDisk*>(this)->place : kNotOnDisk;
}

bool Node::is_on_disk() const {
  return has_on_disk && on_disk()->front() != 0;
}

}  // namespace proxy::cache
