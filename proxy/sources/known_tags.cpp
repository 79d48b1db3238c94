#include "proxy/sources/known_tags.hpp"

#include "proxy/http/validators.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy::sources {

using net::Task;

namespace {

// With a digest of what the client accepts, which may be long.
std::string record_name(const policy::Request& request) {
  const auto text =
      "tag " + request.target.url() + " for " + mirrors::image_digest_of(tag_question(request));
  return cache::StoredName{cache::Space::content, text}.encode();
}

std::string digest_in_tag(std::string_view etag) {
  const auto tag = http::parse_entity_tag(etag);
  const bool is_digest = tag && !tag->weak && mirrors::is_image_digest(tag->opaque);
  return is_digest ? std::string(tag->opaque) : std::string();
}

// A response without a body, so that the disk, the digest and neighbours need nothing new for it.
// Its entity tag is the digest. It counts as fresh, because it is read only where the registry does
// not answer, and whoever reads it takes it for outdated.
cache::Ref<cache::Entry> record_of(SourceAccess& access, const policy::Request& request,
                                   const std::string& digest) {
  static const http::Fields kNoFields;
  const auto name = record_name(request);
  auto text = "HTTP/1.1 200 OK\r\nCache-Control: max-age=31536000, immutable\r\nETag: \"" + digest +
              "\"\r\n\r\n";
  const auto head = http::parse_response_head(text).value();
  auto& cache = access.cache.cache;
  const auto now = cache.clock.now();
  const cache::Received received{.url = name,
                                 .request = kNoFields,
                                 .response = head,
                                 .times = {now, now},
                                 .our_name = access.shared.name,
                                 .shared = request.may_be_shared()};
  return cache::Entry::make(cache.budget, received);
}

}  // namespace

bool is_for_tag(const policy::Request& request) {
  const auto& policy = request.policy();
  const auto& target = request.target;
  if (!policy.rules.registries().any() || !target.https() || request.mapping())
    return false;  // mostly
  if (!policy.mirrored_hosts.have(target)) return false;
  const auto path = target.path();
  // A registry may authorize by the query, which no question for a digest has.
  if (path.find('?') != path.npos) return false;
  const auto part = mirrors::ImagePart::parse(path);
  return part && part->by_tag();
}

std::string tag_question(const policy::Request& request) {
  auto question = "tag " + request.target.url();
  for (const auto& line : request.head.fields) {
    if (line.id == http::field::accept) (question += '\n') += line.value;
  }
  return question;
}

std::string last_tag_question(const policy::Request& request) {
  return "last tag " + request.target.url();
}

// The manifest is then found, verified and shared as if the client had asked for it by its digest.
void aim_at_digest(policy::Request& request, const std::string& digest) {
  const auto part = mirrors::ImagePart::parse(request.target.path());
  if (!part || digest.empty()) return;
  const auto& target = request.target;
  auto url = std::string("https://").append(target.authority()).append(part->path_of(digest));
  auto by_digest = http::parse_target("GET", url);
  if (!by_digest) return;
  request.target = std::move(*by_digest);
  request.apply_site_rule();
}

digest::Key tag_record_key(const policy::Request& request) {
  return digest::key_of(digest::Method::get, record_name(request));
}

Task<std::string> recorded_digest(SourceAccess& access, const policy::Request& request) {
  const policy::ActingRequest acting(request, request.target.url(), record_name(request));
  if (!acting.get()) co_return std::string();
  tiers::Stored stored;
  const tiers::Sought sought{tag_record_key(request), access.now()};
  auto finding = access.cache.find(*acting.get(), sought, stored);
  co_await finding;
  const auto& record = stored.found.entry;
  co_return record ? digest_in_tag(record->quotes().etag) : std::string();
}

Task<void> record_digest(SourceAccess& access, const policy::Request& request,
                         const std::string& digest) {
  auto finding = recorded_digest(access, request);
  const auto before = co_await finding;
  // A tag is asked for again and again, and mostly names the same digest.
  if (before == digest) co_return;
  auto& cache = access.cache.cache;
  const auto key = tag_record_key(request);
  if (digest.empty()) co_return cache.drop(key, record_name(request));
  (void)cache.store(key, record_of(access, request, digest), access.now());
}

std::string digest_said_by(const http::Fields& answer) {
  const auto told = answer.only_value("Docker-Content-Digest");
  if (mirrors::is_image_digest(told)) return std::string(told);
  return digest_in_tag(answer.value(http::field::etag));
}

std::optional<KnownTag> resolve_known_tag(const SourceAccess& access, policy::Request& request) {
  if (!is_for_tag(request)) return std::nullopt;
  const auto path = request.target.path();
  KnownTag known{std::string(path.substr(path.rfind('/') + 1)),
                 access.shared.servers.tags.find(last_tag_question(request), access.now())};
  if (known.answer) aim_at_digest(request, known.answer->text);
  return known;
}

}  // namespace proxy::sources
