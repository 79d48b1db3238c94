// The recipes that Hearsay brings along, each a table in a file of its own. Data alone.
//
// A new one is a file with its tables, a declaration below, and a line in all_recipes().
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace proxy::mirrors::recipes {

// A server of others: a domain, and the labels before it, of which "*" stands for one in requests,
// and for any number in redirects. Without a port: that of the scheme.
struct Upstream {
  std::string_view domain;
  std::string_view labels = {};
};
inline constexpr Upstream kAnyHost{"*"};  // each of the recipe, or of mirrors.hosts if it has none

// What the responses for some paths are. Of a recipe's rows, the first that matches counts.
struct Row {
  std::string_view name;  // for Cache-Status: "rule/NAME"
  Upstream at;
  std::string_view pattern;  // mirrors/path_pattern.hpp; empty: any path, with any query
  config::ResponseClass kind;
  std::chrono::seconds fresh{0};     // for ResponseClass::fresh
  std::chrono::seconds negative{0};  // how long a 404, 410 or 451 answers; 0: it is not stored
  config::StoredUnder under = config::StoredUnder::url;
  bool posts = false;
  std::span<const std::string_view> drop_members = {};  // of JSON, for clients of mirrors
  bool slashes = false;                                 // see config::PatternRule
  bool hides_denied = false;                            // likewise
  std::string_view listed_by = {};                      // likewise
};

std::string host_of(const Upstream& upstream);    // "LABELS.DOMAIN"
std::string server_of(const Upstream& upstream);  // "https://HOST"
std::vector<config::HostSpec> hosts_of(std::span<const Upstream> upstreams);
std::vector<config::RuleSettings> rules_of(std::span<const Row> rows);

// Clients get the links of these members as paths of ours (config::TextRule), in the responses of
// the rows with this name.
void set_links(config::RecipeSettings& recipe, std::string_view row,
               std::span<const std::string_view> links);

// A registry of container images: a name that clients give it, where it is, who gives tokens for it
// beside hosts of its own domain, and where its repositories in one part are.
struct Registry {
  Upstream named;
  Upstream at;
  Upstream tokens = {};
  std::string_view library = {};
};
inline constexpr std::string_view kOci = "oci";
std::span<const Registry> registries();

config::RecipeSettings apt();
config::RecipeSettings cargo();
config::RecipeSettings dnf();
config::RecipeSettings github();
config::RecipeSettings go();
config::RecipeSettings hf();
config::RecipeSettings npm();
config::RecipeSettings oci();
config::RecipeSettings oci_rules();
config::RecipeSettings pypi();
config::RecipeSettings rustup();
config::RecipeSettings steam();
config::RecipeSettings windows();
std::vector<config::RecipeSettings> languages();  // further ones
std::vector<config::RecipeSettings> systems();

// All but those whose clients take us for an http server have their hosts at the port of https.
std::vector<config::RecipeSettings> all_recipes();

}  // namespace proxy::mirrors::recipes
