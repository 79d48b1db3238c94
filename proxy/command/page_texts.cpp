#include "proxy/command/page_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "config/counted.hpp"
#include "config/text.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;

// Escaped. Throws if the member is missing or no text.
std::string text_of(const json& in, const char* name) {
  return escaped(in.at(name).get<std::string>());
}
// Escaped; empty if the member is missing or no text.
std::string text_or_empty(const json& in, const char* name) {
  const auto found = in.find(name);
  return found != in.end() && found->is_string() ? escaped(found->get<std::string>()) : "";
}

std::string size(double bytes) {
  return config::short_size(static_cast<std::uint64_t>(bytes));
}

// "1 request", "1,234 requests".
std::string counted(double number, std::string_view one) {
  return fmt::format("{} {}{}", fmt::group_digits(static_cast<std::uint64_t>(number)), one,
                     number == 1 ? "" : "s");
}

// The proxy names a neighbour that does not work twice if it is a sibling and a parent.
std::size_t neighbours_down(const json& health) {
  std::set<std::string> down;
  for (const auto& reason : health.at("reasons")) {
    if (reason.at("what") == "peer") down.insert(reason.value("which", ""));
  }
  return down.size();
}

}  // namespace

std::optional<std::string> status_text(const std::string& health, const std::string& digest,
                                       const Samples& metrics) try {
  const auto said = json::parse(health);
  const auto known = json::parse(digest);
  auto text = fmt::format("{}: {}\n", text_of(known, "name"), text_of(said, "status"));
  const auto out = std::back_inserter(text);
  for (const auto& reason : said.at("reasons")) {
    const auto which = text_or_empty(reason, "which");
    const auto since = text_or_empty(reason, "since");  // an older proxy does not say when
    const auto last = text_or_empty(reason, "last_seen");
    fmt::format_to(out, "  {}{}{}: {}", text_of(reason, "what"), which.empty() ? "" : " ", which,
                   text_of(reason, "text"));
    if (!since.empty() && !last.empty())
      fmt::format_to(out, "; since {}, last seen {}", since, last);
    text += '\n';
  }
  fmt::format_to(out, "memory      {} of {}, {}\n", size(metrics.get("hearsay_memory_used_bytes")),
                 size(metrics.get("hearsay_memory_limit_bytes")),
                 counted(metrics.get("hearsay_cache_entries"), "response"));
  if (const auto on_disk = metrics.find("hearsay_disk_used_bytes")) {
    fmt::format_to(out, "disk        {}, {}\n", size(*on_disk),
                   counted(metrics.get("hearsay_disk_entries"), "record"));
  }
  if (const auto count = known.at("peers").size(); count > 0) {
    fmt::format_to(out, "neighbours  {} of {} work\n",
                   count - std::min(count, neighbours_down(said)), count);
  }
  fmt::format_to(out, "clients     {}, {} so far\n",
                 counted(metrics.get("hearsay_connections"), "connection"),
                 counted(metrics.sum("hearsay_requests_total"), "request"));
  return text;
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<std::string> explain_text(const std::string& text) try {
  const auto page = json::parse(text);
  auto out = fmt::format("{} {}\n{}\n\n", text_or_empty(page, "method"), text_or_empty(page, "url"),
                         text_or_empty(page, "verdict"));
  for (const auto& sentence : page.at("sentences")) {
    const auto words = text_or_empty(sentence, "text");
    if (words.empty()) continue;
    fmt::format_to(std::back_inserter(out), "{:<11}{}\n", text_or_empty(sentence, "about"), words);
  }
  return out;
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<std::string> reload_text(const std::string& text) try {
  const auto page = json::parse(text);
  const auto file = text_of(page, "file");
  std::string words;
  const auto out = std::back_inserter(words);
  for (const auto& error : page.at("errors")) {
    fmt::format_to(out, "{}: {}\n", text_of(error, "where"), text_of(error, "what"));
  }
  if (!page.at("applied").get<bool>()) {
    fmt::format_to(out, "nothing was reloaded: the settings in force stay, until {} is mended\n",
                   file);
    return words;
  }
  fmt::format_to(out, "the settings of {} are in force\n", file);
  for (const auto& name : page.at("needs_restart")) {
    fmt::format_to(out, "{} changed, which needs a restart\n", escaped(name.get<std::string>()));
  }
  return words;
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<std::string> purge_text(const std::string& page, Purged purged) try {
  const auto answer = json::parse(page);
  const auto count = answer.at("purged").get<std::uint64_t>();
  auto text = "dropped " + counted(static_cast<double>(count), "response");
  if (purged == Purged::many) text += " from memory, and all that match from disk";
  text += '\n';
  if (answer.value("owed", false)) {
    text +=
        "the disk rests: the purge is written to it later, and a crash before that brings the "
        "responses back\n";
  }
  return text;
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<SignInLink> sign_in_link(const std::string& page) try {
  const auto told = json::parse(page);
  SignInLink found{text_of(told, "link"), ""};
  found.about = fmt::format(
      "The link works once, within {} minutes, and signs one browser in for {} hours. Keep it to "
      "yourself.\nIf the browser reaches this proxy by another address, or by a name of "
      "access.own_names, put that in its place.\n",
      told.at("link_seconds").get<std::uint32_t>() / 60,
      told.at("session_seconds").get<std::uint32_t>() / 3600);
  if (found.link.starts_with("http://127.") || found.link.starts_with("http://[::1]")) {
    found.about +=
        "The proxy listens on loopback alone: for a browser elsewhere, forward the port first "
        "(ssh -L).\n";
  }
  return found;
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<std::string> revoked_text(const std::string& page) try {
  const auto browsers = json::parse(page).at("revoked").get<std::uint64_t>();
  return fmt::format("{} signed out; links that were not used do not work any more\n",
                     config::counted(browsers, "browser is", "browsers are"));
} catch (const json::exception&) {
  return std::nullopt;
}

}  // namespace proxy::command
