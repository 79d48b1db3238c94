#include "proxy/policy/request.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/fields.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/secrets.hpp"
#include "proxy/http/text.hpp"
#include "proxy/mirrors/answer_head.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/version.hpp"

namespace proxy::policy {
namespace {

// The two fields that name the client's address in the form that we write, in any spelling that a
// server may take for them.
bool is_ours_to_write(const http::Field& line) {
  return line.id == http::field::forwarded || http::is_x_forwarded_for(line);
}

template <class Dropped>
void drop_if(http::Fields& fields, const Dropped& is_dropped) {
  if (std::none_of(fields.begin(), fields.end(), is_dropped)) return;
  http::Fields others;
  for (const auto& line : fields) {
    if (!is_dropped(line)) others.append(line);
  }
  fields = std::move(others);
}

// Whether the line is about our own origin. A browser sends the cookies of each service on our
// host, whatever the port. An order for us keeps its Origin, by which it may be refused.
bool is_about_our_origin(const http::Field& line, bool is_order) {
  using http::field;
  return line.id == field::cookie || line.id == field::cookie2 || line.id == field::referer ||
         (line.id == field::origin && !is_order);
}

// Whether the line says who the client is, or what it has or wants of the response.
bool is_of_one_client(const http::Field& line) {
  using http::field;
  constexpr std::array kOfOne{field::range,         field::if_range,
                              field::if_none_match, field::if_modified_since,
                              field::cache_control, field::pragma};
  return http::may_be_secret(line.name) || std::ranges::find(kOfOne, line.id) != kOfOne.end();
}

void ask_for_plain_bytes(http::Fields& fields) {
  constexpr auto kField = http::field::accept_encoding;
  constexpr std::string_view kPlain = "identity";
  if (fields.value(kField) == kPlain && fields.count(kField) == 1) return;
  drop_if(fields, [](const auto& line) { return line.id == kField; });
  fields.append(kField, "Accept-Encoding", kPlain);
}

// A GET or HEAD that only reads, or an order for us.
bool may_ask_a_mirror(const Request& request) {
  const bool is_read = request.facts.method != cache::RequestFacts::Method::other &&
                       !request.framing.has_body() && !request.asks_for_websocket();
  return is_read || request.head.method == "PURGE";
}

// The rule of the target, which is then the URL with plain slashes if the rule reads them so.
const SiteRule* aim_by_rule(Request& request, std::string_view path) {
  const auto& rules = request.policy().rules;
  const auto* const rule = rules.find(request.target);
  if (!rule || !rule->has_plain_slashes()) return rule;
  auto plain = mirrors::mirrored_url(mirrors::with_plain_slashes(path));
  if (!plain) return rule;
  request.target = std::move(*plain);
  return rules.find(request.target);
}

// Replaces the target by the URL that the path stands for. Does so for a refused request, too: the
// log then names what was asked for. Nothing that has a body or an upgrade is for a mirror, which
// must not become a tunnel into the network of the origin.
mirrors::Mirrored aim_at_mirrored(Request& request, std::string_view registry) {
  using mirrors::Mirrored;
  const auto& policy = request.policy();
  const bool is_order = request.head.method == "PURGE";
  const bool may_ask = may_ask_a_mirror(request);
  const auto meant = policy.rules.recipe_map().mirror_path(request.target, registry);
  auto url = meant ? mirrors::mirrored_url(meant->path) : std::nullopt;
  if (!url && !may_ask) return Mirrored::bad_method;
  if (!url) return meant && meant->is_absent ? Mirrored::absent : Mirrored::bad_path;
  request.target = std::move(*url);
  const auto& hosts = meant->hosts ? *meant->hosts : policy.mirrored_hosts;
  if (!hosts.have(request.target)) return Mirrored::not_listed;
  // Some servers answer 403 without one.
  if (!request.head.fields.has(http::field::user_agent))
    request.head.fields.append(http::field::user_agent, "User-Agent", kProduct);
  const auto* const rule = aim_by_rule(request, meant->path);
  const bool allows_slashes = rule && rule->allows_slashes();
  if (!allows_slashes && mirrors::has_encoded_slash(request.target)) return Mirrored::bad_path;
  drop_if(request.head.fields, [is_order](const auto& line) {
    return is_about_our_origin(line, is_order) || mirrors::leads_around(line.name, line.value);
  });
  if (rule && rule->response_class() == config::ResponseClass::absent) return Mirrored::absent;
  const bool may_post = rule && rule->allows_post() && request.head.method == "POST";
  return may_post || may_ask ? Mirrored::yes : Mirrored::bad_method;
}

}  // namespace

void Request::derive_facts() {
  facts.apply(head);  // in place: the facts are large, and this is on the way of each hit
  apply_range();
  // Nothing stored can answer what a body asks, and an upgrade is between client and origin.
  facts.for_origin = facts.for_origin || framing.has_body() || asks_for_websocket();
}

// Overlapping ranges must not multiply the origin's traffic (RFC 9110 17.15). Range applies to GET
// only (14.2).
void Request::apply_range() {
  using http::field;
  const auto lines = head.fields.count(field::range);
  if (lines == 0 || head.method != "GET") return;
  const auto written = head.fields.value(field::range);
  auto heeded = lines == 1 ? http::joined_range(written) : std::nullopt;
  if (heeded == written || (heeded && facts.signs_range)) return;
  if (heeded) range_ = std::move(*heeded);
  http::Fields fields;
  for (const auto& line : head.fields) {
    const bool is_range = line.id == field::range;
    if (!heeded && (is_range || line.id == field::if_range)) continue;
    fields.append(line.id, line.name, is_range ? range_ : line.value);
  }
  head.fields = std::move(fields);
  facts = cache::RequestFacts(head);
}

void Request::arrive(Arrival how, const Mapping* mapping, std::string_view registry) {
  terms_ = terms_of(how, mapping);
  mapping_ = mapping;
  if (how == Arrival::mirror) terms_.mirrored = aim_at_mirrored(*this, registry);
  name_it();
}

bool Request::may_be_shared() const {
  // Whoever has the rule gives the response the same name, which is no URL.
  const bool is_named_alike =
      own_name_.empty() || (rule_ && rule_->names_path() && terms_.space == cache::Space::web);
  if (!is_named_alike || head.fields.any_selects()) return false;
  if (!target.https()) return true;
  return policy_->settings.gateway.mirrors.share == config::MirrorShare::anonymous &&
         !http::shows_secret(head.fields) && !http::has_signed_query(target.url());
}

void Request::apply_site_rule() {
  rule_ = policy_->rules.find(target);
  if (!rule_) return;
  rule_->apply_to(facts);
  name_it();
  const bool has_digest = facts.method != cache::RequestFacts::Method::other && content_of(*this);
  const bool is_for_all = facts.is_immutable_by_class() && !facts.never_store;
  if (has_digest || is_for_all) ask_for_plain_bytes(head.fields);
}

bool Request::may_exist() const {
  if (!mapping_ || mapping_->may_have(target)) return true;
  if (!rule_ || !rule_->drops_any()) return false;
  // The operator lists pages, not the parameters that campaigns append.
  const auto reduced = http::parse_target("GET", rule_->key_url(target.url()));
  return reduced && mapping_->may_have(*reduced);
}

void Request::name_it() {
  const bool renamed = rule_ && rule_->renames();
  if (!renamed && terms_.space == cache::Space::web) return;
  own_name_ = in_its_space(renamed ? rule_->key_url(target.url()) : target.url());
  // Most URLs have none of the parameters, and are then shared with neighbours as usual.
  if (own_name_ == target.url()) own_name_.clear();
}

std::string Request::in_its_space(std::string url) const {
  if (terms_.space == cache::Space::web) return url;
  return cache::StoredName{terms_.space, url}.encode();
}

void Request::write_client_fields(const config::ForwardedSettings& settings,
                                  std::string_view address) {
  using How = config::Forwarded;
  // Behind a gateway an origin trusts what these fields say, so a client must not write them
  // itself.
  const auto by_default = terms_.chooses_origin ? How::off : How::replace;
  const auto how = settings.how.value_or(by_default);
  const bool keeps = how == How::off || how == How::append;
  if (auto heeded = http::visible_fields(head.fields, {keeps, settings.drop, settings.pass})) {
    head.fields = std::move(*heeded);
  }
  if (how == How::append || how == How::replace) {
    forwarded_ = http::forwarded_for(head.fields, address);
    drop_if(head.fields, is_ours_to_write);
    http::Field written{http::field::forwarded, "Forwarded", forwarded_.forwarded};
    written.selects = http::classify_forwarded(written) == http::Tells::request;
    head.fields.append(written);
    head.fields.append(http::field::unknown, http::kXForwardedFor, forwarded_.x_forwarded_for);
  }
}

void Request::remove_credentials() {
  using http::field;
  if (!head.fields.has(field::proxy_authorization)) return;
  drop_if(head.fields, [](const auto& line) { return line.id == field::proxy_authorization; });
}

std::string Request::stored_as(const http::Target& other) const {
  return in_its_space(policy_->rules.key_url(other));
}

std::string_view Request::origin_host() const {
  return mapping_ ? mapping_->host_for(target) : target.authority();
}

std::string_view url_for_others(const Request& request) {
  const std::string_view url = request.target.url();
  const auto* const rule = request.rule();
  using Kind = config::ResponseClass;
  const bool is_of_recipe = rule && !rule->recipe().empty();
  const bool is_secret = (rule && rule->names_path()) || http::has_signed_query(url) ||
                         (is_of_recipe && rule->response_class() == Kind::pass);
  return is_secret ? url.substr(0, url.find('?')) : url;
}

OwnedRequest::OwnedRequest(const Request& original, Fields fields) {
  const auto target = original.head.target;
  // One allocation for all of the text: a fill begins on the way of each miss.
  const auto size = target.size() + http::text_size(original.head.fields);
  text_.reserve(size);
  text_.append(target).resize(size);
  http::RequestHead head;
  // Also for HEAD: a fill stores the whole response.
  head.method = "GET";
  head.target = std::string_view(text_).substr(0, target.size());
  head.minor = original.head.minor;
  head.fields = http::copied_to(text_.data() + target.size(), original.head.fields);
  if (fields == Fields::anybodys) drop_if(head.fields, is_of_one_client);
  request_.emplace(std::move(head), original.target, http::Framing{});
  request_->policy_ = original.policy_;
  request_->terms_ = original.terms_;
  request_->mapping_ = original.mapping_;
  request_->rule_ = original.rule_;
  request_->own_name_ = original.own_name_;
  if (original.rule_) original.rule_->apply_to(request_->facts);
  request_->facts.offline = original.facts.offline;  // the setting may be for all sites
}

ActingRequest::ActingRequest(const Request& original, std::string_view url, std::string name)
    : text_(std::string(original.head.method).append(" ").append(url) + " HTTP/1.0\r\n") {
  if (original.asks_as_sibling()) text_ += "Cache-Control: only-if-cached\r\n";
  auto parsed = parse_request(text_ += "\r\n", {});
  if (!parsed) return;
  request_ = std::move(*parsed);
  auto& acting = *request_;
  acting.policy_ = original.policy_;
  acting.terms_ = original.terms_;
  acting.caller = original.caller;
  using mirrors::Mirrored;
  const bool is_mirrored = acting.terms_.mirrored != Mirrored::no;
  if (is_mirrored && !acting.policy_->mirrored_hosts.have(acting.target))
    acting.terms_.mirrored = Mirrored::not_listed;
  acting.apply_site_rule();
  if (!name.empty()) acting.own_name_ = std::move(name);
}

http::HeadResult<std::unique_ptr<Request>> parse_request(std::string_view bytes,
                                                         const http::HeadLimits& limits,
                                                         std::string&& url_memory) {
  std::unique_ptr<Request> request(new Request(std::move(url_memory)));
  auto& head = request->head;
  auto& target = request->target;
  if (const auto parsed = http::parse_request_head(bytes, limits, head); !parsed) {
    return parsed.error();
  }
  const auto host = head.fields.value(http::field::host);
  if (const auto parsed = http::parse_target(head.method, head.target, host, target); !parsed) {
    return parsed.error();
  }
  if (const auto checked = http::check_host(head, target); !checked) return checked.error();
  // RFC 9110 4.2.4: in a request from elsewhere, userinfo mostly hides whose host it really is.
  if (target.had_userinfo()) return http::HeadError::userinfo;
  const auto framing = http::request_framing(head);
  if (!framing) return framing.error();
  // Before the fields that Connection names are dropped: they are what the rules of hops are about.
  if (const auto hops = http::check_hops(head, *framing); !hops) return hops.error();
  if (auto others = http::without_named(head.fields)) head.fields = std::move(*others);
  request->framing = *framing;
  request->derive_facts();
  return request;
}

}  // namespace proxy::policy
