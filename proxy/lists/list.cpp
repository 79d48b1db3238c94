#include "proxy/lists/list.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "digest/keyed_hash.hpp"
#include "digest/little_endian.hpp"
#include "proxy/http/text.hpp"

namespace proxy::lists {
namespace {

using config::Network;

constexpr unsigned kV4Start = 96;

// Sorted so, a range stands before those that it contains.
void keep_outermost(config::Networks& networks) {
  std::sort(networks.begin(), networks.end(), [](const Network& a, const Network& b) {
    return std::tie(a.address, a.prefix) < std::tie(b.address, b.prefix);
  });
  config::Networks kept;
  for (const Network& network : networks) {
    if (kept.empty() || !kept.back().contains(network.address)) kept.push_back(network);
  }
  kept.shrink_to_fit();
  networks = std::move(kept);
}

// Under the secret of the process, so that nobody can choose names which the filter takes for
// listed ones, and so make look-ups slow.
digest::Key key_of(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const digest::SipHash128 hash(digest::process_salt(), {bytes, text.size()});
  digest::Key key;
  digest::store64(key.bytes.data(), hash.low());
  digest::store64(key.bytes.data() + 8, hash.high());
  return key;
}

// Scheme and authority of a canonical URL. The URL has a path.
std::string_view origin_of(std::string_view url) {
  return url.substr(0, url.find('/', url.find("://") + 3));
}

// The address that a canonical host states, or nothing for a name. A name never ends in a number
// and never contains a colon.
std::optional<config::Address> literal(std::string_view host) {
  const bool looks_so = !host.empty() && (http::is(http::kDigit, host.back()) ||
                                          host.find(':') != std::string_view::npos);
  return looks_so ? config::parse_address(host) : std::nullopt;
}

// A tunnel shows no path, so only an entry for the whole site can name it.
std::string url_of_tunnel(const http::Target& target) {
  std::string_view authority = target.authority();
  constexpr std::string_view kStandard = ":443";
  if (authority.ends_with(kStandard)) authority.remove_suffix(kStandard.size());
  return std::string("https://").append(authority).append("/");
}

}  // namespace

// Sorted, and not hashed: that costs four bytes beside a text, and only the few look-ups that the
// filter lets through pay for the search.
void SortedTexts::finish(Drop drop) {
  std::vector<std::string_view> sorted;
  for (std::size_t at = 0; at < texts_.size(); at += sorted.back().size() + 1) {
    sorted.push_back(text_at(at));
  }
  std::sort(sorted.begin(), sorted.end());
  std::string kept;
  std::string_view last;
  for (const std::string_view text : sorted) {
    const bool is_said = drop == Drop::equals ? text == last : text.starts_with(last);
    if (!starts_.empty() && is_said) continue;
    starts_.push_back(static_cast<Start>(kept.size()));
    (kept += text) += '\n';
    last = text;
  }
  texts_ = std::move(kept);
  texts_.shrink_to_fit();
  starts_.shrink_to_fit();
}

std::optional<std::string_view> SortedTexts::last_up_to(std::string_view text) const {
  const auto beyond = std::upper_bound(
      starts_.begin(), starts_.end(), text,
      [this](std::string_view wanted, Start start) { return wanted < text_at(start); });
  if (beyond == starts_.begin()) return std::nullopt;
  return text_at(*(beyond - 1));
}

void NetworkSet::insert(const Network& network) {
  const bool v4 = network.prefix >= kV4Start && config::is_v4(network.address);
  (v4 ? v4_ : v6_).push_back(network);
}

void NetworkSet::finish() {
  keep_outermost(v4_);
  keep_outermost(v6_);
}

bool NetworkSet::contains(const config::Address& address) const {
  const config::Networks& networks = config::is_v4(address) ? v4_ : v6_;
  const auto beyond = std::upper_bound(
      networks.begin(), networks.end(), address,
      [](const config::Address& wanted, const Network& each) { return wanted < each.address; });
  return beyond != networks.begin() && (beyond - 1)->contains(address);
}

bool List::names(const http::Target& target) const {
  if (entries() == 0) return false;
  // An address has no labels: "1.2.3.4" is no host below "3.4".
  if (const auto address = literal(target.host())) {
    if (names(*address)) return true;
  } else if (names_host(target.host())) {
    return true;
  }
  if (prefixes_.size() == 0 || target.host().empty()) return false;
  const bool tunnel = target.form() == http::Target::Form::authority;
  return tunnel ? names_url(url_of_tunnel(target)) : names_url(target.url());
}

bool List::names(const config::Address& address) const {
  if (networks_.contains(address)) return true;
  const auto inner = config::translated(address);
  return inner && networks_.contains(*inner);
}

bool List::perhaps(std::string_view text) const {
  return filter_ && filter_->contains(key_of(text));
}

bool List::names_host(std::string_view host) const {
  if (hosts_.size() == 0) return false;
  while (!host.empty()) {
    if (perhaps(host) && hosts_.contains(host)) return true;
    host.remove_prefix(std::min(host.find('.'), host.size() - 1) + 1);
  }
  return false;
}

bool List::names_url(std::string_view url) const {
  return perhaps(origin_of(url)) && prefixes_.begins(url);
}

std::size_t List::bytes() const {
  const std::size_t filter = filter_ ? static_cast<std::size_t>(filter_->lines()) * 64 : 0;
  return hosts_.bytes() + prefixes_.bytes() + networks_.bytes() + filter;
}

ListBuilder::Added ListBuilder::add_host(std::string_view host) {
  if (!list_.hosts_.fits(host)) return Added::no_room;
  list_.hosts_.insert(host);
  return Added::yes;
}

ListBuilder::Added ListBuilder::add_prefix(std::string_view url) {
  if (!list_.prefixes_.fits(url)) return Added::no_room;
  list_.prefixes_.insert(url);
  return Added::yes;
}

ListBuilder::Added ListBuilder::add(const config::Network& network) {
  if (list_.networks_.size() == NetworkSet::kMost) return Added::no_room;
  list_.networks_.insert(network);
  return Added::yes;
}

List ListBuilder::finish(double rate) && {
  list_.hosts_.finish(SortedTexts::Drop::equals);
  list_.prefixes_.finish(SortedTexts::Drop::continuations);
  list_.networks_.finish();
  const std::uint64_t keys = list_.hosts_.size() + list_.prefixes_.size();
  if (keys > 0) {
    // Always succeeds: the bounds on texts keep the number of keys far below what a filter can
    // hold.
    auto filter = digest::BlockedFilter::for_capacity(keys, rate);
    const auto insert = [&](std::string_view text) { filter->insert(key_of(text)); };
    list_.hosts_.for_each(insert);
    list_.prefixes_.for_each([&](std::string_view url) { insert(origin_of(url)); });
    list_.filter_ = std::move(*filter);
  }
  return std::move(list_);
}

}  // namespace proxy::lists
