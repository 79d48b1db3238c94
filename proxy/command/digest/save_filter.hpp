// Saves the filter that a subcommand has made.
#pragma once

#include <string>

#include "digest/bloom_filter.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

struct SaveOptions {
  std::string out = {};
  bool force = false;  // replace a file that exists
  bool json = false;
};

// Returns trouble if save_filter() would refuse the file. Call this before long work.
Result<void> may_save(const SaveOptions& options);

// Saves the filter as a whole or not at all, and prints its facts. If the filter is salted, only
// the owner may read the file, since the salt is a secret.
Result<int> save_filter(const digest::BloomFilter& filter, const SaveOptions& options,
                        const Streams& streams);

}  // namespace proxy::command
