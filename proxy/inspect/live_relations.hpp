// What the records of a cache in use say of each other: by its index.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/inspect/entry_facts.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy::inspect {

class LiveRelations final : public Relations {
 public:
  explicit LiveRelations(const Live& live) : live_(live) {}

  HeldBlocks held(const cache::disk::Stored& object, std::uint64_t length) const override;
  bool leads_to(const cache::disk::Stored& variant, std::uint64_t selector) const override;

  // Of an object in memory; nothing for what is none.
  HeldBlocks held(const cache::disk::Key& url_key, const cache::Entry& entry) const;
  // Whether the disk has it, too.
  bool on_disk(const cache::Store::Held& held) const;

 private:
  HeldBlocks blocks(const cache::disk::Key& url_key, std::string_view url, std::uint64_t version,
                    std::uint64_t length) const;
  // What leads to the variants of the URL.
  std::optional<cache::Selector> selector(const cache::disk::Key& url_key,
                                          std::string_view url) const;

  const Live& live_;
};

}  // namespace proxy::inspect
