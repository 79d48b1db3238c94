#include "proxy/lists/list.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "digest/keyed_hash.hpp"
#include "digest/little_endian.hpp"
#include "proxy/http/text.hpp"

namespace proxy::lists {
namespace {

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
  list_.hosts_.pack();
  list_.prefixes_.finish();
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
