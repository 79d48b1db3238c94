// The part of AnyDigest that differs by form: look-ups and facts.
#include <fmt/format.h>

#include <map>

#include "proxy/command/any_digest.hpp"

namespace proxy::command {
namespace {

using Facts = std::map<std::string_view, Report::Value>;

// In the order of the report. A fact that a form does not hold is unknown.
constexpr std::string_view kNames[] = {"bits",      "hashes",     "salted",
                                       "layout",    "stages",     "bits_per_entry",
                                       "capacity",  "entries",    "estimated_entries",
                                       "bits_set",  "fill_ratio", "false_positive_rate",
                                       "epoch",     "generation", "value_bits",
                                       "heavy_keys"};

Facts facts_of(const digest::BloomFilter& filter) {
  const digest::Shape& shape = filter.shape();
  Facts facts{
      {"bits", shape.bits},
      {"hashes", std::uint64_t{shape.hashes}},
      {"salted", shape.derivation == digest::Derivation::salted},
      {"layout", std::string(shape.layout == digest::Layout::plain ? "plain" : "partitioned")},
      {"estimated_entries", filter.estimate()},
      {"bits_set", filter.bits_set()},
      {"fill_ratio", filter.fill_ratio()},
      {"false_positive_rate", filter.false_positive_rate()}};
  if (const auto additions = filter.additions()) facts["entries"] = *additions;
  return facts;
}

Facts facts_of(const digest::CountingFilter& filter) {
  Facts facts = facts_of(filter.projection());
  facts["entries"] = filter.entries();
  return facts;
}

Facts facts_of(const digest::ScalableFilter& filter) {
  return {{"bits", std::uint64_t{8} * filter.byte_count()},
          {"stages", std::uint64_t{filter.stages()}},
          {"entries", filter.entries()},
          {"false_positive_rate", filter.false_positive_rate()}};
}

Facts facts_of(const digest::BlockedFilter& filter) {
  // A key sets 8 bits within one line of the processor's cache, which has 512.
  return {{"bits", 512 * filter.lines()},
          {"hashes", std::uint64_t{8}},
          {"salted", false},
          {"false_positive_rate", filter.false_positive_rate()}};
}

Facts facts_of(const digest::QuotientFilter& filter) {
  const digest::QuotientShape& shape = filter.shape();
  const auto full = static_cast<double>(filter.entries()) / static_cast<double>(shape.slots());
  // Beside its remainder, a slot has three bits that say which quotient it belongs to.
  return {{"bits", shape.slots() * (shape.remainder_bits + 3)},
          {"capacity", shape.capacity()},
          {"entries", filter.entries()},
          {"fill_ratio", full},
          {"false_positive_rate", filter.false_positive_rate()}};
}

Facts facts_of(const digest::BloomierFilter& filter) {
  return {{"bits", filter.slots() * filter.form().bits()},
          {"hashes", std::uint64_t{3}},
          {"value_bits", std::uint64_t{filter.form().value_bits}},
          {"entries", filter.keys()},
          {"false_positive_rate", filter.false_positive_rate()}};
}

Facts facts_of(const digest::WeightedFilter& filter) {
  // Of a key that was rarely asked for.
  return {{"bits", filter.bits()},
          {"hashes", std::uint64_t{filter.base_hashes()}},
          {"heavy_keys", filter.heavy_keys()},
          {"entries", filter.members()},
          {"bits_set", filter.bits_set()},
          {"false_positive_rate", filter.rate_with(filter.base_hashes())}};
}

Facts facts_of(const digest::CompactApproximator& bounds) {
  // A cell of 16 bits stands where a Bloom filter has a bit. Of the keys, those with a number above
  // 0 can be told.
  const digest::Shape& shape = bounds.shape();
  return {{"bits", shape.bits * 8 * sizeof(digest::CompactApproximator::Value)},
          {"hashes", std::uint64_t{shape.hashes}},
          {"estimated_entries", digest::estimated_keys(shape, bounds.cells_from(1))},
          {"false_positive_rate", bounds.excess_rate()}};
}

Facts facts_of(const digest::MessageFilter& filter) {
  const auto fill =
      static_cast<double>(filter.bits_set()) / static_cast<double>(filter.shape().bits());
  return {{"bits", filter.shape().bits()},
          {"hashes", std::uint64_t{filter.shape().hashes}},
          {"bits_set", filter.bits_set()},
          {"fill_ratio", fill},
          {"false_positive_rate", filter.false_positive_rate()}};
}

Facts facts_of(const digest::AdaptiveFilter& filter) {
  const auto full = static_cast<double>(filter.entries()) / static_cast<double>(filter.cells());
  // With the keys, from which corrections are made.
  constexpr std::uint64_t kBits = 16 + 8 * sizeof(digest::Key);
  return {{"bits", filter.cells() * kBits},
          {"hashes", std::uint64_t{4}},
          {"entries", filter.entries()},
          {"fill_ratio", full},
          {"false_positive_rate", filter.false_positive_rate()}};
}

// Of a digest that says for how many entries it was made.
Facts facts_of(const digest::BloomFilter& filter, std::uint64_t capacity, std::uint64_t entries) {
  Facts facts = facts_of(filter);
  facts["capacity"] = capacity;
  facts["entries"] = entries;
  if (capacity > 0) {
    const auto bits = static_cast<double>(filter.shape().bits);
    facts["bits_per_entry"] = bits / static_cast<double>(capacity);
  }
  return facts;
}

Facts facts_of(const digest::NativeDigest& digest) {
  Facts facts = facts_of(digest.filter, digest.capacity, digest.entries);
  facts["epoch"] = fmt::format("{:016x}", digest.epoch);
  facts["generation"] = digest.generation;
  return facts;
}

Facts facts_of(const digest::SquidDigest& digest) {
  return facts_of(digest.filter, digest.capacity, digest.count);
}

Report report_of(std::string_view kind, std::uint64_t bytes, Facts facts) {
  Report report;
  report.add("kind", std::string(kind)).add("bytes", bytes);
  for (const auto name : kNames) report.add(name, facts[name]);
  return report;
}

// The filter of a digest that proxies exchange; else the form itself.
const auto& filter_in(const auto& form) {
  if constexpr (requires { form.filter; }) {
    return form.filter;
  } else {
    return form;
  }
}

const digest::BloomFilter* bloom_in(const digest::BloomFilter& filter) {
  return &filter;
}
const digest::BloomFilter* bloom_in(const digest::CountingFilter& filter) {
  return &filter.projection();
}
const digest::BloomFilter* bloom_in(const auto&) {
  return nullptr;
}

}  // namespace

bool AnyDigest::contains(const digest::Key& key) const {
  return std::visit([&](const auto& form) { return filter_in(form).contains(key); }, filter_);
}

std::optional<std::uint64_t> AnyDigest::value_of(const digest::Key& key) const {
  if (!contains(key)) return std::nullopt;
  if (const auto* const values = std::get_if<digest::BloomierFilter>(&filter_)) {
    return values->find(key);
  }
  const auto* const bounds = std::get_if<digest::CompactApproximator>(&filter_);
  return bounds ? std::optional<std::uint64_t>(bounds->bound(key)) : std::nullopt;
}

const digest::BloomFilter* AnyDigest::bloom() const {
  return std::visit([](const auto& form) { return bloom_in(filter_in(form)); }, filter_);
}

Report AnyDigest::describe() const {
  return report_of(kind_, bytes_,
                   std::visit([](const auto& form) { return facts_of(form); }, filter_));
}

Report describe(const digest::BloomFilter& filter, std::uint64_t bytes) {
  return report_of("bloom", bytes, facts_of(filter));
}

}  // namespace proxy::command
