#include "proxy/http/cache_status.hpp"

#include <array>

#include "proxy/http/sixteen_bytes.hpp"
#include "proxy/http/structured_fields.hpp"

namespace proxy::http {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 9> kReasons{
    "none", "bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial"};
static_assert(kReasons.size() == static_cast<std::size_t>(Forward::partial) + 1);

// RFC 8941 3.3.4: a letter or `*`, then token characters, ":" or "/".
bool is_sf_token(std::string_view text) {
  const auto in_token = [](char c) { return is(kTokenChar, c) || c == ':' || c == '/'; };
  return !text.empty() && (is_letter(text.front()) || text.front() == '*') &&
         std::ranges::all_of(text, in_token);
}

// RFC 8941 3.3.3: printable ASCII; quotes and backslashes escaped.
void write_sf_string(PieceWriter& out, std::string_view text) {
  const auto is_odd = [](SixteenBytes bytes) {
    return (bytes < 0x20) | (bytes > 0x7e) | (bytes == '"') | (bytes == '\\');
  };
  out << "\"";
  if (find_first(text, is_odd) == text.size()) {  // nearly always
    out << text << "\"";
    return;
  }
  for (const char& c : text) {
    if (c < 0x20 || c > 0x7e) continue;
    if (c == '"' || c == '\\') out << "\\";
    out << std::string_view(&c, 1);
  }
  out << "\"";
}

}  // namespace

std::string_view text(Forward reason) {
  return kReasons.at(static_cast<std::size_t>(reason));
}

void write_cache_status(PieceWriter& out, std::string_view name, const CacheStatus& status) {
  // RFC 9211 2: a cache names itself by a token or a string. Names of hosts are tokens.
  if (is_sf_token(name))
    out << name;
  else
    write_sf_string(out, name);
  if (status.hit) out << "; hit";
  if (status.fwd != Forward::none) out << "; fwd=" << text(status.fwd);
  if (status.fwd_status) out << "; fwd-status=" << std::uint64_t{*status.fwd_status};
  if (status.ttl) {
    const auto left = status.ttl->count();
    out << (left < 0 ? "; ttl=-" : "; ttl=");
    out << static_cast<std::uint64_t>(left < 0 ? -left : left);
  }
  if (status.stored) out << "; stored";
  if (status.collapsed) out << "; collapsed";
  if (!status.key.empty()) write_sf_string(out << "; key=", status.key);
  if (!status.detail.empty()) write_sf_string(out << "; detail=", status.detail);
}

void add_detail(std::string& detail, std::string_view words) {
  if (!detail.empty() && !words.empty()) detail += ' ';
  detail += words;
}

std::optional<NearestCacheStatus> nearest_cache_status(const Fields& fields) {
  std::optional<Member> last;
  for (const Field& line : fields) {
    if (!same_word(line.name, "Cache-Status")) continue;
    StructuredReader list(line.value, Structure::list);
    auto member = list.next();
    if (!member) return std::nullopt;
    // Each cache appends itself at the end, so that the last member is of the one we asked.
    for (; member; member = list.next()) last = std::move(member);
    if (list.failed()) return std::nullopt;
  }
  if (!last) return std::nullopt;
  const auto words_of = [&](std::string_view key) {
    const auto* const value = last->find(key);
    return value ? value->words() : std::string();
  };
  const auto* const hit = last->find("hit");
  return NearestCacheStatus{hit && hit->type == BareItem::Type::boolean && hit->text == "1",
                            words_of("fwd"), words_of("detail")};
}

}  // namespace proxy::http
