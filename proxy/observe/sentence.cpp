#include "proxy/observe/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "config/text.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::observe {
namespace {

using http::Forward;

// A word of Cache-Status's detail: "word/about" or "word".
struct Word {
  std::string_view word;
  std::string_view about;
};

std::vector<Word> words_in(std::string_view detail) {
  std::vector<Word> words;
  while (!detail.empty()) {
    const auto one = detail.substr(0, detail.find(' '));
    detail.remove_prefix(std::min(detail.size(), one.size() + 1));
    if (one.empty()) continue;
    const auto slash = one.find('/');
    const auto about = slash == one.npos ? std::string_view() : one.substr(slash + 1);
    words.push_back({one.substr(0, slash), about});
  }
  return words;
}

struct Phrase {
  std::string_view word;
  std::string_view text;
};

// `{}` is what the word is about.
// The words are those of Cache-Status, so that a sentence and the header tell one story. A word
// without a phrase is shown as it is.
constexpr Phrase kPhrases[] = {
    {"false-hit", "asked {}: its digest claimed this; it was wrong"},
    {"unusable", "asked {}: what it holds is of no use here"},
    {"refused", "asked {}: it refused"},
    {"refuses-us", "asked {}: it refuses us (its access.clients)"},
    {"not-a-proxy", "asked {}: somebody else answers at its address"},
    {"slow", "{} took too long"},
    {"broken", "asked {}: it did not answer"},
    {"dns", "{} was not asked: its name was not resolved"},
    {"cut", "{} cut its answer short"},
    {"wrong", "asked {}: its body did not have the digest that names it"},
    {"outrun", "asked {}, too: another source was faster"},
    {"not-stored", "not stored: {}"},
    {"rule", "by the rule {}"},
    {"offline", "this proxy is offline"},
    {"stale-while-revalidate", "stale, and being validated meanwhile"},
    {"gone", "it was here lately"},
    {"unknown", "whether it was here lately is not known"},
    {"loop", "it has been through this proxy before"},
    {"denied", "the settings forbid it"},
    {"client-limit", "this client has too many requests under way"},
    {"overload", "this proxy is too busy"},
    {"exceeds", "a head exceeds the setting {}"},
    {"unknown-url", "the origin knows no such URL"},
    {"fetched-by", "another neighbour is fetching it"},
};
constexpr Phrase kCauses[] = {
    {"absent", "it never held it"},      {"gone", "it had dropped it since"},
    {"stale", "its copy was stale"},     {"variant", "it holds another variant"},
    {"refused", "it refused to answer"}, {"unfit", "its copy did not fit"},
    {"unknown", "it does not know why"},
};
// Of cache::Storability.
constexpr Phrase kReasons[] = {
    {"method", "only answers to GET are"},
    {"rule", "a rule of this site forbids it"},
    {"request-no-store", "the client forbids it (no-store)"},
    {"for-origin", "the request was for the origin alone"},
    {"status", "answers with its status are not"},
    {"partial", "it is no single part of a whole"},
    {"no-store", "its origin forbids it (no-store)"},
    {"private", "it is for one client (private)"},
    {"authorization", "it answers one client's credentials"},
    {"vary", "it varies by everything (Vary: *)"},
    {"vary-too-long", "the client's fields by which it varies are too long"},
    {"set-cookie", "it sets a cookie"},
    {"no-cache", "nothing can validate it, as no-cache demands"},
    {"no-lifetime", "it states no lifetime"},
    {"max-age", "its lifetime is 0 (max-age)"},
    {"expired", "it had expired on arrival"},
    {"duplicate", "the neighbour is close at hand and keeps it"},
    {"too-large", "it is too large"},
    {"no-room", "there was no room"},
    {"several-sources", "several sources gave its body"},
    {"incomplete", "its body was cut"},
    {"outdated", "it was purged meanwhile"},
};

std::optional<std::string_view> find(const auto& phrases, std::string_view word) {
  const auto* found =
      std::ranges::find_if(phrases, [word](const Phrase& one) { return one.word == word; });
  return found == std::end(phrases) ? std::nullopt : std::optional(found->text);
}

std::string with(std::string_view phrase, std::string_view about) {
  std::string text(phrase);
  const auto gap = text.find("{}");
  if (gap != text.npos) text.replace(gap, 2, about);
  return text;
}

// A word that is none of Failure::What is told as it is.
std::string failure_text(std::string_view word_of_failure) {
  for (std::size_t i = 0; i < upstream::kFailures; ++i) {
    const auto what = static_cast<upstream::Failure::What>(i);
    if (upstream::word(what) == word_of_failure)
      return upstream::text({upstream::Failure::Where::upstream, what, {}});
  }
  return std::string(word_of_failure);
}

// Appends a clause to the sentence.
void add(std::string& sentence, std::string_view clause, std::string_view before = "; ") {
  if (clause.empty()) return;
  if (!sentence.empty()) sentence += before;
  sentence += clause;
}

std::string_view why_forwarded(const RequestRecord& record) {
  switch (record.told.fwd) {
    case Forward::vary_miss:
      return "only other variants are held here";
    case Forward::request:
      return "the client wants no stored copy";
    case Forward::stale:
      return "what is held here was stale";
    case Forward::partial:
      return "a part was missing here";
    default:
      return "";
  }
}

// Who answered a request that was forwarded.
std::string source_of(const RequestRecord& record, std::string_view peer) {
  if (record.collapsed) return "waited for the answer to another client's request";
  const bool claimed = record.claimed != Claimed::by_nobody;
  switch (record.hierarchy) {
    case Hierarchy::sibling:
    case Hierarchy::parent_hit:
      if (!claimed) return fmt::format("nobody claimed it; {} was fetching it and gave it", peer);
      return fmt::format("asked {}: its digest claimed this; it was right", peer);
    case Hierarchy::parent:
      return fmt::format("fetched through the parent {}", peer);
    case Hierarchy::direct:
      if (record.tag == Tag::refresh_unmodified) return "the origin confirmed it";
      return claimed ? "fetched from the origin" : "fetched from the origin: nobody claimed it";
    case Hierarchy::none:
      return "not held here, and only what is stored was asked for";
  }
  return "";
}

// In the order of Tag. Empty: see opening_of().
constexpr std::array<std::string_view, kTags> kOpenings{
    "",
    "answered from memory",
    "answered from disk",
    "the client's own copy is current",
    "",
    "",
    "",
    "",
    "",
    "the origin failed, so a stale response stands in",
    "refused",
    "a tunnel: its content is not seen",
    "",
    "purged",
    ""};

std::string opening_of(const RequestRecord& record) {
  if (record.tag == Tag::failed) {
    return fmt::format("nobody could answer: {}", failure_text(record.failure));
  }
  if (record.tag == Tag::none) return fmt::format("not answered: error {}", record.status);
  const auto opening = kOpenings[static_cast<std::size_t>(record.tag)];
  return std::string(opening.empty() ? why_forwarded(record) : opening);
}

bool is_forwarded(Tag tag) {
  return tag == Tag::miss || tag == Tag::client_refresh || tag == Tag::refresh_unmodified ||
         tag == Tag::refresh_modified;
}

std::string lifetime(const RequestRecord& record) {
  const auto& told = record.told;
  if (!told.ttl) return told.stored ? "stored" : "";
  const auto left = *told.ttl;
  if (left.count() < 0) return "stale for " + config::rough_text(-left);
  if (told.hit) return "fresh for another " + config::rough_text(left);
  return (told.stored ? "stored for " : "fresh for ") + config::rough_text(left);
}

std::string phrase_for(const Word& one, std::optional<std::string_view> failure) {
  if (one.word == "peer" || one.word == "parent") return "";  // source_of() names it
  if (failure && one.word == *failure) return "";             // the opening tells it
  if (one.word == "stale-if-error") return failure_text(one.about);
  if (one.word == "because") return std::string(find(kCauses, one.about).value_or(one.about));
  if (one.word == "not-stored") {
    return with("not stored: {}", find(kReasons, one.about).value_or(one.about));
  }
  if (const auto phrase = find(kPhrases, one.word)) return with(*phrase, one.about);
  return fmt::format("{}{}{}", one.word, one.about.empty() ? "" : "/", one.about);
}

}  // namespace

std::string sentence_of(const RequestRecord& record) {
  const auto words = words_in(record.told.detail);
  std::string_view peer = record.upstream_host;
  for (const auto& one : words) {
    if (one.word == "peer" || one.word == "parent") peer = one.about;
  }
  std::string sentence = opening_of(record);
  // What became of the response is told after who gave it.
  const auto is_late = [](const Word& one) {
    return one.word == "not-stored" || one.word == "rule";
  };
  // The opening and the detail may tell the same failure.
  const auto failure = record.tag == Tag::failed ? std::optional(record.failure) : std::nullopt;
  for (const auto& one : words) {
    if (is_late(one)) continue;
    add(sentence, phrase_for(one, failure), one.word == "because" ? ": " : "; ");
  }
  if (is_forwarded(record.tag)) add(sentence, source_of(record, peer));
  add(sentence, lifetime(record));
  for (const auto& one : words) {
    if (is_late(one)) add(sentence, phrase_for(one, failure));
  }
  if (record.cut != Cut::none) {
    add(sentence, fmt::format("this proxy ended the connection: {}", word(record.cut)));
  } else if (record.aborted) {
    add(sentence, "the client did not get the whole response");
  }
  return sentence;
}

}  // namespace proxy::observe
