// Relations between the records of a cache in use, found in its index.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/inspect/entry_facts.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy::inspect {

class LiveRelations final : public Relations {
 public:
  explicit LiveRelations(const Live& live) : live_(live) {}

  StoredBlocks stored_blocks(const cache::disk::StoredRecord& object,
                             std::uint64_t length) const override;
  bool leads_to(const cache::disk::StoredRecord& variant, std::uint64_t selector) const override;

  // The blocks stored for an entry in memory; none if the entry is no large object.
  StoredBlocks stored_blocks(const cache::disk::Key& url_key, const cache::Entry& entry) const;
  // Whether the disk has the entry too.
  bool on_disk(const cache::Store::Response& held) const;

 private:
  StoredBlocks blocks(const cache::disk::Key& url_key, std::string_view url, std::uint64_t version,
                      std::uint64_t length) const;
  // The selector that leads to the variants of the URL, if there is one on disk.
  std::optional<cache::Selector> selector(const cache::disk::Key& url_key,
                                          std::string_view url) const;

  const Live& live_;
};

}  // namespace proxy::inspect
