// Rules for some sites, and mirrors: the settings `rules` and `mirrors`.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "config/endpoint.hpp"

namespace config {

using std::chrono::milliseconds;

// How long a response may be reused, whatever its origin says of that.
enum class ResponseClass {
  told,        // as its origin says, within the bounds of the rule
  immutable,   // for ever
  fresh,       // for min_fresh from its arrival on, then it is validated
  revalidate,  // it is validated each time
  pass,        // it is not stored
  absent,      // a mirror has no such page, whatever the origin has
};

// The name under which a response is stored.
enum class StoredUnder {
  url,
  path,     // scheme, host and query do not count: one name for all hosts of a recipe
  content,  // its URL; and all URLs with the same digest of the body get it
};

// How the texts of a server reach clients of mirrors: never in what is stored.
struct TextRule {
  std::vector<std::string> drop_members = {};  // that JSON lacks (proxy/mirrors/rewrite.hpp)
  // Members of JSON with URLs, which clients of mirrors get as paths of ours: "url", or with the
  // name of the member around it, "dist.url". If there are any, so do the anchors of HTML.
  std::vector<std::string> links = {};
  // JSON that answers in place of the server, in which "{base}" stands for how the client names
  // this proxy. Empty: the server answers.
  std::string made = {};

  bool operator==(const TextRule&) const = default;
};

// A rule for paths that match a pattern, rather than a beginning or a glob.
struct PatternRule {
  std::string pattern = {};  // proxy/mirrors/path_pattern.hpp; empty: any path, with any query
  ResponseClass kind = ResponseClass::told;
  StoredUnder name = StoredUnder::url;
  std::string recipe = {};            // that has the rule; empty: none
  std::vector<HostSpec> follow = {};  // hosts that redirects of mirrors may lead to, too
  bool posts = false;                 // POST is passed on, too
  // "%2F" may stand in the path, which is then a name of its own; or that of the path with plain
  // slashes, if the pattern has "%2F" itself.
  bool slashes = false;
  bool hides_denied = false;  // without credentials, a 401 or 403 is a 404
  TextRule text = {};
  // The name of a file, of the same folder or of one above, that lists the response with its
  // digest: an older response than that does not stand in for a failure. Empty: none.
  std::string listed_by = {};

  bool operator==(const PatternRule&) const = default;
};

// A rule for some sites. Only the first rule that matches a request applies. Everything is off
// unless set. proxy/policy/site_rules.hpp has the details.
struct RuleSettings {
  std::string name;  // a token, in Cache-Status; unique
  HostSpec host;
  std::string path;                       // the beginning of the path, byte for byte; empty: any
  std::vector<std::string> paths = {};    // globs, of which one must match the path; empty: any
  std::optional<milliseconds> min_fresh;  // freshness lifetime, at least
  std::optional<milliseconds> max_fresh;  // freshness lifetime, at most
  // Freshness lifetime of error responses that state none.
  std::optional<milliseconds> negative = std::nullopt;
  bool immutable = false;             // no client has a fresh response validated
  bool ignore_authorization = false;  // setting `authorization`: all clients may see the responses
  bool ignore_client_no_cache = false;
  std::vector<std::string> drop_query;  // parameters left out of the key; `*` stands for any text
  bool never_store = false;
  bool offline = false;        // like cache.offline
  bool store_cookies = false;  // a response with Set-Cookie is stored like any other
  std::optional<PatternRule> by_pattern = std::nullopt;

  bool operator==(const RuleSettings&) const = default;
};

// Which responses for https URLs neighbours may learn of, and are asked for.
enum class MirrorShare : std::uint8_t {
  anonymous,  // those to requests without Authorization and Cookie
  none,
};

// A host, or the hosts that "*." stands for, whose certificates those of a file may vouch for, too.
struct HostCertificates {
  std::string host;  // "*.example.com", or a name or address, lower case, IPv6 without brackets
  std::string file;  // PEM

  bool operator==(const HostCertificates&) const = default;
};

// What makes mirrors of the servers of one kind of client: how its requests name a server, where
// that redirects to, and rules for the responses.
struct RecipeSettings {
  // How a request names the server, other than by a path such as /https/HOST/PATH.
  enum class NamedBy {
    prefix,  // its path begins with `prefix`, which stands for `to`; empty: no request does
    host,    // its Host field is one of `hosts`: clients take us for that server
    query,   // its parameter `parameter` is one of `hosts`
  };
  std::string name;  // a token; unique
  NamedBy named_by = NamedBy::prefix;
  std::string prefix = {};  // "/models/"
  std::string to = {};      // "https://models.example.com", without a path
  std::string parameter = {};
  std::vector<HostSpec> hosts = {};      // empty: the rules are for those of mirrors.hosts
  std::vector<HostSpec> follow = {};     // hosts that redirects may lead to, too
  std::vector<RuleSettings> rules = {};  // the host "*": all of the recipe
  // The name of a recipe that Hearsay has. Its rules apply after `rules`, to all hosts. Without a
  // prefix, requests name `hosts` as they name the hosts of that recipe. Empty: no such recipe.
  std::string like = {};

  bool operator==(const RecipeSettings&) const = default;
};

// The registry of images whose names name none, for clients that know this proxy by a host.
struct HostRegistry {
  HostSpec host;         // without a port: at any
  std::string registry;  // HOST[:PORT]

  bool operator==(const HostRegistry&) const = default;
};

// The registry of images whose names name none, for clients of one of our sockets.
struct ListenerRegistry {
  HostPort listener;
  std::string registry;

  bool operator==(const ListenerRegistry&) const = default;
};

// URLs that clients may ask for below a path of ours: /https/HOST/PATH.
struct MirrorSettings {
  // Names, addresses, and "*." with a name, which stands for one label. Without a port: at the
  // standard port of the scheme.
  std::vector<HostSpec> hosts;
  std::vector<HostCertificates> ca;
  MirrorShare share = MirrorShare::anonymous;
  std::vector<std::string> recipes;  // names of ours; "default": all of them
  std::vector<RecipeSettings> own_recipes;
  // The registry of images whose names name none: HOST[:PORT]. Empty: the first that the recipe
  // "oci" has.
  std::string registry;
  // The registry of the socket (from `listen`) counts before that of the host, and the latter
  // before `registry`.
  std::vector<HostRegistry> registries;
  std::vector<ListenerRegistry> listeners;

  bool operator==(const MirrorSettings&) const = default;
};

}  // namespace config
