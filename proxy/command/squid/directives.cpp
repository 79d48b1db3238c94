#include "proxy/command/squid/lines.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using Fate = Finding::Fate;

// Directives that a part of the import reads.
constexpr std::string_view kRead =
    "acl|http_access|adapted_http_access|http_reply_access|miss_access|follow_x_forwarded_for|"
    "http_port|https_port|cache_mem|cache_dir|maximum_object_size|maximum_object_size_in_memory|"
    "cache_peer|cache_peer_access|never_direct|always_direct|visible_hostname|cache_mgr|unique_"
    "hostname|"
    "workers|access_log|cache_access_log|forwarded_for|offline_mode|request_header_max_size|"
    "request_timeout|read_timeout|connect_timeout|client_idle_pconn_timeout|"
    "persistent_request_timeout|peer_connect_timeout|shutdown_lifetime|log_icp_queries|"
    "refresh_pattern|cache|no_cache|negative_ttl|auth_param|delay_pools|delay_class|"
    "delay_parameters|delay_access|include|if|else|endif|cache_peer_domain|"
    "nonhierarchical_direct|store_miss|client_ip_max_connections";

struct Directives {
  std::string_view names;   // separated by '|'; the first entry with a name is for it
  std::string_view values;  // what Hearsay does, too, separated by '|'; empty: nothing like it
  Fate fate;                // of all other values
  std::string_view what;
};

// clang-format off
constexpr Directives kOthers[] = {
    {"via", "on", Fate::left, "Via is always sent: it ends loops between proxies"},
    {"prefer_direct", "off", Fate::left,
     "parents are asked before the origin, not after it: leave them out, or limit them by "
     "\"for\""},
    {"neighbor_type_domain", "", Fate::left, "a peer has one role, for all hosts"},
    {"htcp_clr_access", "deny all", Fate::left, "there is no HTCP: access.admin may purge by HTTP"},
    {"send_hit", "allow all", Fate::left,
     "what is stored and fresh is sent; write a rule with \"host\", \"paths\" and "
     "\"never_store\": true"},
    {"dns_nameservers", "", Fate::left,
     "names are asked of the servers in /etc/resolv.conf. If these filter, name them there, or "
     "what they hide is reached"},
    {"hosts_file", "/etc/hosts", Fate::left,
     "names are looked up in /etc/hosts: add the lines of this file there"},
    {"append_domain", "", Fate::left,
     "a host without a dot stays as it is: \"search\" in /etc/resolv.conf resolves it, but "
     "rules and acls see the short name"},
    {"dns_defnames", "on", Fate::left,
     "a host without a dot is resolved by \"search\" in /etc/resolv.conf, if there is such a "
     "line"},
    {"dns_multicast_local", "off", Fate::left, "no names are asked by multicast"},
    {"check_hostnames", "off", Fate::left,
     "names of hosts are not judged by their letters; refuse such hosts by access.rules"},
    {"allow_underscore", "on", Fate::left,
     "names of hosts are not judged by their letters; refuse such hosts by access.rules"},
    {"uri_whitespace", "deny", Fate::changed, "a request whose URL has white space is refused"},
    {"client_lifetime", "1 day|1440 minutes|24 hours", Fate::left,
     "a connection has no longest time; see timeouts"},
    {"forward_timeout", "4 minutes", Fate::left,
     "see timeouts.connect, timeouts.first_byte and timeouts.unreachable"},
    {"write_timeout", "15 minutes", Fate::left, "timeouts.body limits how long a client may stall"},
    {"request_start_timeout", "5 minutes", Fate::left, "see timeouts.head and timeouts.keep_alive"},
    {"forward_max_tries", "25", Fate::left, "all addresses of an origin are tried within timeouts"},
    {"retry_on_error", "off", Fate::left, "an origin's error is passed on, and not asked again"},
    {"connect_retries", "0", Fate::left, "a connection that fails is not tried again"},
    {"half_closed_clients", "off", Fate::left,
     "a client that closes its side during a request may be taken as gone"},
    {"minimum_object_size", "0|0 kb", Fate::left, "responses of all sizes are stored"},
    {"max_stale", "", Fate::left, "see cache.stale_if_error, and min_fresh and max_fresh of rules"},
    {"minimum_expiry_time", "60 seconds|1 minute", Fate::left,
     "see cache.stale_if_error, and min_fresh and max_fresh of rules"},
    {"cache_store_log", "none", Fate::left, "there is no log of what is stored; see /metrics"},
    {"client_persistent_connections", "on", Fate::left, "connections of clients are kept open"},
    {"server_persistent_connections", "on", Fate::left, "connections to origins are kept open"},
    {"reload_into_ims|refresh_all_ims|ie_refresh", "off", Fate::left,
     "a client's reload and its validators are heeded; see ignore_client_no_cache of rules"},
    {"vary_ignore_expire", "off", Fate::left, "Expires counts under Vary, too"},
    {"http_accel_surrogate_remote", "off", Fate::left,
     "Surrogate-Control is not heeded, and there is no ESI; see cache.targeted"},
    {"httpd_accel_surrogate_id|esi_parser", "", Fate::left,
     "Surrogate-Control is not heeded, and there is no ESI; see cache.targeted"},
    {"host_verify_strict", "off", Fate::left,
     "the URL of a request decides, whatever its Host field says (RFC 9112 section 3.2.2)"},
    {"configuration_includes_quoted_values", "off", Fate::left,
     "quotes are read as without this line: look whether values in quotes are meant"},
    {"request_entities", "on", Fate::left, "requests by GET and HEAD may have bodies"},
    {"chroot", "none", Fate::left, "the setting sandbox limits files instead"},
    {"http_upgrade_request_protocols", "", Fate::left,
     "WebSocket passes, if the origin takes it, and no other protocol"},
    {"proxy_protocol_access", "deny all", Fate::left, "there is no PROXY protocol"},
    {"url_rewrite_*|redirect_*|redirector_bypass|redirector_access|location_rewrite_*",
     "", Fate::left, "no program changes URLs, so what it refuses, or sends elsewhere, passes: "
     "put its lists into access.block, which refuses hosts and the beginnings of URLs"},
    {"store_id_*|storeurl_*",
     "", Fate::left, "no program names what is the same; a rule's drop_query leaves out "
     "parameters of a query"},
    {"ssl_bump|sslcrtd_*|sslproxy_cert_*|sslcrtvalidator_*|sslproxy_ca_keylen|"
     "on_unsupported_protocol|ssl_unclean_shutdown|sslproxy_session_*|"
     "sslproxy_foreign_intermediate_certs",
     "", Fate::left, "TLS is not opened: https through CONNECT passes unseen, also what this "
     "would end"},
    {"tls_outgoing_options|sslproxy_cafile|sslproxy_capath|sslproxy_cipher|"
     "sslproxy_client_certificate|sslproxy_client_key|sslproxy_flags|sslproxy_options|"
     "sslproxy_version|ssl_engine|sslpassword_program",
     "", Fate::left, "certificates of servers are verified by the system's store"},
    {"icap_*|log_icap|ecap_*|loadable_modules|adaptation_*|force_request_body_continuation",
     "", Fate::left, "there is no ICAP or eCAP, so what a service refuses or changes passes as "
     "it is"},
    {"icp_*|maximum_icp_query_timeout|minimum_icp_query_timeout|background_ping_rate|"
     "udp_incoming_address|udp_outgoing_address|htcp_*|mcast_*|query_icmp|test_reachability|"
     "pinger_*|netdb_*|minimum_direct_*|reload_into_ims_icp|dead_peer_timeout",
     "", Fate::unneeded, "no ICP or HTCP is needed: a neighbour is asked for what its digest "
     "claims"},
    {"digest_*",
     "", Fate::unneeded, "the digest is kept up to date, in Squid's form too; see the settings "
     "of digest"},
    {"snmp_*",
     "", Fate::left, "there is no SNMP; /metrics is for Prometheus, /digest and /health are JSON"},
    {"wccp_*|wccp2_*",
     "", Fate::left, "there is no WCCP; /wpad.dat and /proxy.pac lead clients to the proxy"},
    {"tcp_outgoing_*|clientside_*|qos_flows|mark_client_packet|zph_local|mark_client_connection",
     "", Fate::left, "the system chooses the address and the marks of connections to origins"},
    {"dns_timeout|dns_retransmit_interval|dns_packet_max|dns_children|cache_dns_program|"
     "ignore_unknown_nameservers|positive_dns_ttl|negative_dns_ttl|ipcache_*|fqdncache_size",
     "", Fate::unneeded, "names are resolved as the system does, and kept for as long as their "
     "answers say"},
    {"request_header_access|reply_header_access|request_header_replace|reply_header_replace|"
     "request_header_add|reply_header_add|header_*|note",
     "", Fate::left, "fields are not chosen one by one; see forwarded, forwarded_drop and "
     "forwarded_pass for those about clients"},
    {"error_*|err_*|deny_info|email_err_data|mime_table|icon_directory|short_icon_urls|announce_*",
     "", Fate::left, "errors are plain text"},
    {"mail_*|cachemgr_passwd|hostname_aliases|umask|windows_ipaddrchangemonitor|"
     "broken_posts|external_refresh_check|refresh_stale_hit|positive_ttl|spoof_client_ip|"
     "client_dst_passthru|relaxed_header_parser",
     "", Fate::left, "there is nothing like it"},
    {"logformat|log_mime_hdrs|useragent_log|referer_log|forward_log|log_ip_on_direct|log_fqdn|"
     "log_access|client_netmask|strip_query_terms|emulate_httpd_log",
     "", Fate::left, "log.format is \"squid\" or \"json\""},
    {"external_acl_type|authenticate_ip_ttl|authenticate_ip_shortcircuit_ttl|auth_schemes|"
     "ident_*|redirector_auth|authenticate_program",
     "", Fate::left, "no other program decides on access"},
    {"reply_body_max_size|request_body_max_size",
     "", Fate::left, "bodies have no limit; cache.max_object limits what is stored"},
    {"reply_header_max_size",
     "", Fate::left, "limits.head is for requests and responses"},
    {"response_delay_*|client_delay_*",
     "", Fate::left, "limits.bandwidth and limits.bandwidth_per_client are all there is"},
    {"ftp_*",
     "", Fate::left, "there is no FTP: requests for ftp: are refused"},
    {"cache_effective_user|cache_effective_group",
     "", Fate::changed, "the service's unit, or the setting user, says as whom it runs"},
    {"quick_abort_*",
     "", Fate::changed, "a fetch whose clients have left goes on if it is nearly done, or if it "
     "has other readers"},
    {"pid_filename|coredump_dir|logfile_rotate|cache_log|debug_options|logfile_daemon|"
     "buffered_logs|service_name",
     "", Fate::unneeded, "it runs in the foreground, writes messages to stderr, and reopens its "
     "log at SIGUSR1"},
    {"memory_cache_mode|memory_cache_shared|memory_replacement_policy|cache_replacement_policy|"
     "cache_swap_*|store_dir_select_algorithm|store_avg_object_size|store_objects_per_bucket|"
     "max_open_disk_fds|memory_pools*|client_db|collapsed_forwarding|collapsed_forwarding_access|"
     "read_ahead_gap|range_offset_limit|pipeline_prefetch|high_*|sleep_after_fork|"
     "cpu_affinity_map|persistent_connection_after_error|detect_broken_pconn|tcp_recv_bufsize|"
     "accept_filter|httpd_suppress_version_string|delay_initial_bucket_level|shared_*|"
     "hopeless_kid_revival_delay|paranoid_hit_validation|acl_uses_indirect_client|"
     "delay_pool_uses_indirect_client|log_uses_indirect_client|tproxy_uses_indirect_client|"
     "eui_lookup|server_pconn_for_nonretriable|server_idle_pconn_timeout|pconn_timeout|"
     "client_request_buffer_max_size|as_whois_server|incoming_*|min_*|happy_eyeballs_*|"
     "pconn_lifetime|cache_miss_revalidate|update_headers|stats_collection|diskd_program|"
     "unlinkd_program|authenticate_cache_garbage_interval|authenticate_ttl|"
     "global_internal_static|broken_vary_encoding|cache_vary|dns_testnames|dns_v4_fallback|"
     "dns_v4_first|extension_methods|hierarchy_stoplist|ignore_ims_on_miss|ignore_expect_100|"
     "server_http11|upgrade_http0.9|zero_buffers|wais_relay_host|wais_relay_port|"
     "balance_on_multiple_ip|httpd_accel_no_pmtu_disc|maximum_single_addr_tries|"
     "chunked_request_body_max_size|max_filedesc*",
     "", Fate::unneeded, "Hearsay does without this setting"}};
// clang-format on

// The values of the line in small letters, with single blanks.
std::string value_of(const Line& line) {
  std::string value;
  for (const Word& word : line.words) value += (value.empty() ? "" : " ") + word.text;
  return config::lower_case(value);
}

}  // namespace

bool lists(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const auto end = std::min(list.find('|'), list.size());
    const auto each = list.substr(0, end);
    const bool is_begin = each.ends_with('*') && item.starts_with(each.substr(0, end - 1));
    if (is_begin || each == item) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

void advise(const std::vector<Line>& lines, Findings& findings) {
  std::set<std::size_t> told;
  for (const Finding& finding : findings) told.insert(finding.source.order);
  for (const Line& line : lines) {
    const std::size_t least = line.name == "acl" ? 2 : 1;
    if (lists(kRead, line.name)) {
      // A part that has said something about the line has seen what it lacks.
      const bool is_short = line.words.size() < least && !told.contains(line.source.order);
      if (is_short) findings.left(line, "is not complete");
      continue;
    }
    const auto* const found =
        std::find_if(std::begin(kOthers), std::end(kOthers),
                     [&](const Directives& each) { return lists(each.names, line.name); });
    if (found == std::end(kOthers)) {
      findings.left(line, "is no directive of Squid that is known here");
      // Only the value that Hearsay has, too, is no loss: defaults of Squid have changed over time.
    } else if (lists(found->values, value_of(line))) {
      findings.unneeded(line, "it is so here, too");
    } else {
      findings.add(line, found->fate, std::string(found->what));
    }
  }
}

}  // namespace proxy::command::squid
