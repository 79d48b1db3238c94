// The part of AnyDigest that differs by form: look-ups and facts.
#include <fmt/format.h>

#include "proxy/command/digest/any_digest.hpp"

namespace proxy::command {
namespace {

using Value = Report::Value;

// In the order of the report, one member for each of its 14 lines. A fact that a form does not hold
// stays unknown.
struct Facts {
  Value bits = {};
  Value hashes = {};
  Value salted = {};
  Value layout = {};
  Value stages = {};
  Value bits_per_entry = {};
  Value capacity = {};
  Value entries = {};
  Value estimate = {};
  Value bits_set = {};
  Value fill_ratio = {};
  Value false_positive_rate = {};
  Value epoch = {};
  Value generation = {};
};

Facts facts_of(const digest::BloomFilter& filter) {
  const digest::Shape& shape = filter.shape();
  Facts facts;
  facts.bits = shape.bits;
  facts.hashes = std::uint64_t{shape.hashes};
  facts.salted = shape.derivation == digest::Derivation::salted;
  facts.layout = std::string(shape.layout == digest::Layout::plain ? "plain" : "partitioned");
  if (const auto additions = filter.additions()) facts.entries = *additions;
  facts.estimate = filter.estimate();
  facts.bits_set = filter.bits_set();
  facts.fill_ratio = filter.fill_ratio();
  facts.false_positive_rate = filter.false_positive_rate();
  return facts;
}

Facts facts_of(const digest::CountingFilter& filter) {
  Facts facts = facts_of(filter.projection());
  facts.entries = filter.entries();
  return facts;
}

Facts facts_of(const digest::ScalableFilter& filter) {
  Facts facts;
  facts.bits = std::uint64_t{8} * filter.byte_count();
  facts.stages = std::uint64_t{filter.stages()};
  facts.entries = filter.entries();
  facts.false_positive_rate = filter.false_positive_rate();
  return facts;
}

Facts facts_of(const digest::BlockedFilter& filter) {
  Facts facts;
  facts.bits = 512 * filter.lines();
  facts.hashes = std::uint64_t{8};
  facts.salted = false;
  facts.false_positive_rate = filter.false_positive_rate();
  return facts;
}

Facts facts_of(const digest::QuotientFilter& filter) {
  const digest::QuotientShape& shape = filter.shape();
  Facts facts;
  facts.bits = shape.slots() * (shape.remainder_bits + 3);
  facts.capacity = shape.capacity();
  facts.entries = filter.entries();
  facts.fill_ratio = static_cast<double>(filter.entries()) / static_cast<double>(shape.slots());
  facts.false_positive_rate = filter.false_positive_rate();
  return facts;
}

void add_plan(Facts& facts, std::uint64_t capacity, std::uint64_t bits) {
  facts.capacity = capacity;
  if (capacity > 0) {
    facts.bits_per_entry = static_cast<double>(bits) / static_cast<double>(capacity);
  }
}

Facts facts_of(const digest::NativeDigest& digest) {
  Facts facts = facts_of(digest.filter);
  add_plan(facts, digest.capacity, digest.filter.shape().bits);
  facts.entries = digest.entries;
  facts.epoch = fmt::format("{:016x}", digest.epoch);
  facts.generation = digest.generation;
  return facts;
}

Facts facts_of(const digest::SquidDigest& digest) {
  Facts facts = facts_of(digest.filter);
  add_plan(facts, digest.capacity, digest.filter.shape().bits);
  facts.entries = std::uint64_t{digest.count};
  return facts;
}

Report report_of(std::string_view kind, std::uint64_t bytes, const Facts& facts) {
  Report report;
  report.add("kind", std::string(kind)).add("bytes", bytes).add("bits", facts.bits);
  report.add("hashes", facts.hashes).add("salted", facts.salted).add("layout", facts.layout);
  report.add("stages", facts.stages).add("bits_per_entry", facts.bits_per_entry);
  report.add("capacity", facts.capacity).add("entries", facts.entries);
  report.add("estimated_entries", facts.estimate).add("bits_set", facts.bits_set);
  report.add("fill_ratio", facts.fill_ratio);
  report.add("false_positive_rate", facts.false_positive_rate);
  report.add("epoch", facts.epoch).add("generation", facts.generation);
  return report;
}

bool holds(const digest::NativeDigest& digest, const digest::Key& key) {
  return digest.filter.contains(key);
}
bool holds(const digest::SquidDigest& digest, const digest::Key& key) {
  return digest.filter.contains(key);
}
template <class Filter>
bool holds(const Filter& filter, const digest::Key& key) {
  return filter.contains(key);
}

// The Bloom filter inside each form.
struct BloomOf {
  const digest::BloomFilter* operator()(const digest::BloomFilter& filter) const { return &filter; }
  const digest::BloomFilter* operator()(const digest::CountingFilter& filter) const {
    return &filter.projection();
  }
  const digest::BloomFilter* operator()(const digest::NativeDigest& digest) const {
    return &digest.filter;
  }
  const digest::BloomFilter* operator()(const digest::SquidDigest& digest) const {
    return &digest.filter;
  }
  template <class Other>
  const digest::BloomFilter* operator()(const Other&) const {
    return nullptr;
  }
};

}  // namespace

bool AnyDigest::contains(const digest::Key& key) const {
  return std::visit([&](const auto& filter) { return holds(filter, key); }, filter_);
}

const digest::BloomFilter* AnyDigest::bloom() const {
  return std::visit(BloomOf{}, filter_);
}

Report AnyDigest::describe() const {
  const Facts facts = std::visit([](const auto& filter) { return facts_of(filter); }, filter_);
  return report_of(kind_, bytes_, facts);
}

Report describe(const digest::BloomFilter& filter, std::uint64_t bytes) {
  return report_of("bloom", bytes, facts_of(filter));
}

}  // namespace proxy::command
