#include "proxy/command/steer/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "config/text.hpp"
#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;

// The text of a member; empty if it is null or missing.
std::string text_of(const json& in, const char* name) {
  const auto found = in.find(name);
  return found != in.end() && found->is_string() ? escaped(found->get<std::string>())
                                                 : std::string();
}

std::string joined(const json& list) {
  std::string text;
  for (const auto& one : list) {
    (text += text.empty() ? "" : ", ") += escaped(one.get<std::string>());
  }
  return text;
}

// A line "label   text", or nothing without a text.
void line(std::string& out, std::string_view label, std::string_view text) {
  if (!text.empty()) fmt::format_to(std::back_inserter(out), "{:<11}{}\n", label, text);
}

void append_request(std::string& out, const json& page) {
  const bool own_page = page.value("own_page", false);  // which judges for itself
  const auto user = text_of(page, "user");
  const bool allowed = page.at("allowed").get<bool>() && !own_page;
  line(out, "client",
       text_of(page, "client") + (user.empty() ? "" : ", user " + user) +
           (allowed ? ", allowed" : ""));
  line(out, "refused", text_of(page, "refusal"));
  line(out, "rule", text_of(page, "rule"));
  const bool reverse = page.at("mode") == "reverse" && !own_page;
  line(out, "as", reverse ? "a server (setting reverse)" : "");
  line(out, "key", text_of(page, "key"));
  if (page.at("stored_as") != page.at("url")) line(out, "stored as", text_of(page, "stored_as"));
}

// Without the sign: how long ago, or for how long yet.
std::string time_of(const json& in, const char* name) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const auto seconds = std::clamp(in.at(name).get<std::int64_t>(), -kMost, kMost);
  return config::rough_text(std::chrono::seconds(std::abs(seconds)));
}

// "600 s by max-age, 288 s old, fresh for another 312 s".
std::string freshness_of(const json& stored) {
  auto text = fmt::format("lifetime {} by {}", time_of(stored, "lifetime_seconds"),
                          text_of(stored, "lifetime_from"));
  if (text_of(stored, "lifetime_from") == "rule") {
    text += fmt::format(" ({} by {})", time_of(stored, "told_lifetime_seconds"),
                        text_of(stored, "told_lifetime_from"));
  }
  text += fmt::format(", {} old, ", time_of(stored, "age_seconds"));
  const auto time = time_of(stored, "fresh_seconds");
  const bool fresh = stored.at("fresh_seconds").get<std::int64_t>() > 0;
  return text + (fresh ? fmt::format("fresh for another {}, until {}", time,
                                     text_of(stored, "fresh_until"))
                       : "stale for " + time);
}

// What the response says of its use once it is stale.
std::string stale_rules_of(const json& stored) {
  if (stored.at("no_cache").get<bool>()) return "validated before each use (no-cache)";
  if (stored.at("never_stale").get<bool>()) return "never used stale";
  const auto while_asked = stored.at("stale_while_revalidate_seconds").get<std::int64_t>();
  const auto if_error = stored.at("stale_if_error_seconds").get<std::int64_t>();
  std::string text;
  if (while_asked > 0) {
    text = "then for " + time_of(stored, "stale_while_revalidate_seconds") + " while it is renewed";
  }
  if (if_error > 0) {
    text += (text.empty() ? "then for " : ", for ") + time_of(stored, "stale_if_error_seconds") +
            " if the origin fails";
  }
  return text;
}

std::string variant_of(const json& stored) {
  std::string text;
  for (const auto& [name, value] : stored.at("vary").items()) {
    const auto shown = value.is_string() ? escaped(value.get<std::string>()) : "none";
    text += fmt::format("{}{}: {}", text.empty() ? "for " : ", ", escaped(name), shown);
  }
  return text;
}

void append_stored(std::string& out, const json& page) {
  for (const auto& stored : page.at("stored")) {
    const auto held = stored.at("held_bytes").get<std::uint64_t>();
    const auto bytes = stored.at("bytes").get<std::uint64_t>();
    auto what = fmt::format("{}: {}, {}", text_of(stored, "where"),
                            stored.at("status").get<unsigned>(), config::short_size(bytes));
    if (held != bytes) what += fmt::format(", of which {} are held", config::short_size(held));
    if (!stored.at("selected").get<bool>()) what += " (another variant)";
    line(out, "stored", what);
    line(out, "", variant_of(stored));
    line(out, "", freshness_of(stored));
    line(out, "", stale_rules_of(stored));
  }
  if (page.at("other_variants_on_disk").get<bool>()) {
    line(out, "", "the disk may hold other variants (hearsay cache show)");
  }
  const auto fault = text_of(page, "disk_fault");
  if (!fault.empty()) line(out, "disk", "not looked at: " + fault);
}

std::string claim_of(const json& peer) {
  const auto claims = peer.find("claims");
  if (claims == peer.end() || claims->is_null()) return "unknown";
  return claims->get<bool>() ? "claims it" : "does not claim it";
}

void append_peers(std::string& out, const json& page) {
  for (const auto& peer : page.at("peers")) {
    const auto asked = text_of(peer, "asked");
    auto what = fmt::format("{}: {}; {}", text_of(peer, "name"), claim_of(peer),
                            asked == "no"    ? "not asked"
                            : asked == "yes" ? "asked"
                                             : asked);
    const auto why = text_of(peer, "why");
    if (!why.empty()) what += ": " + why;
    line(out, "neighbour", what);
  }
  const auto owner = text_of(page, "owner");
  if (!owner.empty()) line(out, "owner", owner + " is asked whether it fetches this");
}

void append_origin(std::string& out, const json& page) {
  const auto& origin = page.at("origin");
  line(out, "parents", joined(origin.at("parents")));
  auto servers = joined(origin.at("servers"));
  const auto& takes = origin.at("first_byte_ms");
  if (!servers.empty() && takes.is_number()) {
    servers += fmt::format(", {:.1f} ms to the first byte", takes.get<double>());
  }
  line(out, "origin", servers);
}

}  // namespace

std::optional<std::string> explain_text(const std::string& text) try {
  const auto page = json::parse(text);
  auto out = fmt::format("{} {}\n{}\n\n", text_of(page, "method"), text_of(page, "url"),
                         text_of(page, "verdict"));
  append_request(out, page);
  append_stored(out, page);
  append_peers(out, page);
  append_origin(out, page);
  return out;
} catch (const json::exception&) {
  return std::nullopt;
}

SteerResult explain(const Steer& steer, const ExplainOptions& options) {
  auto target = "/admin/explain?url=" + percent_encoded(options.url);
  if (!options.method.empty()) target += "&method=" + percent_encoded(options.method);
  if (!options.client.empty()) target += "&client=" + percent_encoded(options.client);
  if (!options.user.empty()) target += "&user=" + percent_encoded(options.user);
  const auto page = ask_for(steer.place, {target});
  if (!page) return page.error();
  const auto text = explain_text(*page);
  if (!text) return no_page(steer.place, "/admin/explain");
  const bool allowed = nlohmann::json::parse(*page).at("allowed").get<bool>();
  return print_answer(steer, steer.json ? *page : *text, allowed ? 0 : kRefusal);
}

}  // namespace proxy::command
