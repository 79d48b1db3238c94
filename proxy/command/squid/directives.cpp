#include "proxy/command/squid/directives.hpp"

#include "proxy/command/squid/values.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

constexpr std::string_view kRead =
    "acl|http_access|adapted_http_access|http_reply_access|miss_access|follow_x_forwarded_for|"
    "http_port|https_port|cache_mem|cache_dir|maximum_object_size|"
    "maximum_object_size_in_memory|cache_peer|cache_peer_access|never_direct|always_direct|"
    "visible_hostname|unique_hostname|workers|access_log|cache_access_log|forwarded_for|"
    "offline_mode|request_header_max_size|request_timeout|read_timeout|connect_timeout|"
    "client_idle_pconn_timeout|persistent_request_timeout|peer_connect_timeout|"
    "shutdown_lifetime|log_icp_queries|refresh_pattern|cache|no_cache|negative_ttl|auth_param|"
    "delay_pools|"
    "delay_class|delay_parameters|delay_access|include|if|else|endif|cache_peer_domain|"
    "nonhierarchical_direct|store_miss|client_ip_max_connections";

struct Group {
  Kind kind;
  std::string_view what;
  std::string_view names;  // separated by '|'
};

constexpr std::string_view kRewrite =
    "url_rewrite_program|url_rewrite_children|url_rewrite_access|url_rewrite_bypass|"
    "url_rewrite_extras|url_rewrite_host_header|url_rewrite_concurrency|url_rewrite_timeout|"
    "redirect_program|redirect_children|redirector_bypass|redirector_access|"
    "location_rewrite_program|location_rewrite_children|location_rewrite_access|"
    "location_rewrite_concurrency|location_rewrite_extras";
constexpr std::string_view kStoreId =
    "store_id_program|store_id_children|store_id_access|store_id_bypass|store_id_extras|"
    "storeurl_rewrite_program|storeurl_rewrite_children|storeurl_access";
constexpr std::string_view kBump =
    "ssl_bump|sslcrtd_program|sslcrtd_children|sslproxy_cert_sign_hash|sslcrtvalidator_program|"
    "sslcrtvalidator_children|sslproxy_cert_error|sslproxy_cert_sign|sslproxy_cert_adapt|"
    "sslproxy_ca_keylen|on_unsupported_protocol|ssl_unclean_shutdown|sslproxy_session_ttl|"
    "sslproxy_session_cache_size|sslproxy_foreign_intermediate_certs";
constexpr std::string_view kTlsOut =
    "tls_outgoing_options|sslproxy_cafile|sslproxy_capath|sslproxy_cipher|"
    "sslproxy_client_certificate|sslproxy_client_key|sslproxy_flags|sslproxy_options|"
    "sslproxy_version|ssl_engine|sslpassword_program";
constexpr std::string_view kAdapt =
    "icap_enable|icap_service|icap_send_client_ip|icap_send_client_username|"
    "icap_client_username_header|icap_client_username_encode|icap_preview_enable|icap_preview_size|"
    "icap_persistent_connections|icap_service_failure_limit|icap_service_revival_delay|"
    "icap_connect_timeout|icap_io_timeout|icap_206_enable|icap_default_options_ttl|icap_retry|"
    "icap_retry_limit|icap_log|log_icap|icap_class|icap_access|ecap_enable|ecap_service|"
    "loadable_modules|adaptation_access|adaptation_service_set|adaptation_service_chain|"
    "adaptation_service_iteration_limit|adaptation_masterx_shared_names|adaptation_meta|"
    "adaptation_send_client_ip|adaptation_send_username|adaptation_uses_indirect_client|"
    "force_request_body_continuation";
constexpr std::string_view kIcp =
    "icp_port|icp_access|icp_hit_stale|icp_query_timeout|maximum_icp_query_timeout|"
    "minimum_icp_query_timeout|background_ping_rate|udp_incoming_address|udp_outgoing_address|"
    "htcp_port|htcp_access|mcast_groups|mcast_icp_query_timeout|mcast_miss_addr|"
    "mcast_miss_port|mcast_miss_ttl|mcast_miss_encode_key|query_icmp|test_reachability|"
    "pinger_enable|pinger_program|netdb_filename|netdb_low|netdb_high|netdb_ping_period|"
    "minimum_direct_hops|minimum_direct_rtt|reload_into_ims_icp|dead_peer_timeout";
constexpr std::string_view kDigest =
    "digest_generation|digest_bits_per_entry|digest_rebuild_period|digest_rewrite_period|"
    "digest_swapout_chunk_size|digest_rebuild_chunk_percentage";
constexpr std::string_view kSnmp =
    "snmp_port|snmp_access|snmp_incoming_address|snmp_outgoing_address";
constexpr std::string_view kWccp =
    "wccp_router|wccp_version|wccp_address|wccp2_router|wccp2_address|wccp2_forwarding_method|"
    "wccp2_return_method|wccp2_assignment_method|wccp2_rebuild_wait|wccp2_service|"
    "wccp2_service_info|wccp2_weight";
constexpr std::string_view kOutgoing =
    "tcp_outgoing_address|tcp_outgoing_tos|tcp_outgoing_mark|clientside_tos|clientside_mark|"
    "qos_flows|tcp_outgoing_ds|tcp_outgoing_dscp|mark_client_packet|zph_local|"
    "mark_client_connection";
constexpr std::string_view kDns =
    "dns_timeout|dns_retransmit_interval|dns_packet_max|dns_children|cache_dns_program|"
    "ignore_unknown_nameservers|positive_dns_ttl|negative_dns_ttl|ipcache_size|ipcache_low|"
    "ipcache_high|fqdncache_size";
constexpr std::string_view kFields =
    "request_header_access|reply_header_access|request_header_replace|reply_header_replace|"
    "request_header_add|reply_header_add|header_access|header_replace|note";
constexpr std::string_view kPages =
    "error_directory|error_default_language|error_log_languages|err_page_stylesheet|err_html_text|"
    "deny_info|email_err_data|mime_table|icon_directory|short_icon_urls|announce_period|"
    "announce_host|announce_file|announce_port|error_map";
constexpr std::string_view kMail =
    "cache_mgr|mail_from|mail_program|cachemgr_passwd|hostname_aliases|umask";
constexpr std::string_view kLogs =
    "logformat|log_mime_hdrs|useragent_log|referer_log|forward_log|log_ip_on_direct|log_fqdn|"
    "log_access|client_netmask|strip_query_terms|emulate_httpd_log";
constexpr std::string_view kMoreAuth =
    "external_acl_type|authenticate_ip_ttl|authenticate_ip_shortcircuit_ttl|auth_schemes|"
    "ident_lookup_access|ident_timeout|redirector_auth|authenticate_program";
constexpr std::string_view kBodies = "reply_body_max_size|request_body_max_size";
constexpr std::string_view kUploads =
    "response_delay_pool|response_delay_pool_access|client_delay_pools|"
    "client_delay_initial_bucket_level|client_delay_parameters|client_delay_access";
constexpr std::string_view kHeads = "reply_header_max_size";
constexpr std::string_view kFtp =
    "ftp_user|ftp_passive|ftp_epsv|ftp_eprt|ftp_list_width|ftp_sanitycheck|ftp_telnet_protocol|"
    "ftp_epsv_all|ftp_port|ftp_client_idle_timeout";
constexpr std::string_view kUser = "cache_effective_user|cache_effective_group";
constexpr std::string_view kDescriptors = "max_filedescriptors|max_filedesc";
constexpr std::string_view kRun =
    "pid_filename|coredump_dir|logfile_rotate|cache_log|debug_options|logfile_daemon|buffered_logs|"
    "service_name";
constexpr std::string_view kRest =
    "windows_ipaddrchangemonitor|broken_posts|external_refresh_check|refresh_stale_hit|"
    "positive_ttl|spoof_client_ip|client_dst_passthru|relaxed_header_parser";
constexpr std::string_view kTuning =
    "server_idle_pconn_timeout|pconn_timeout|client_request_buffer_max_size|as_whois_server|"
    "incoming_icp_average|incoming_http_average|incoming_dns_average|incoming_tcp_average|"
    "incoming_udp_average|incoming_rate|min_icp_poll_cnt|min_dns_poll_cnt|min_http_poll_cnt|"
    "min_tcp_poll_cnt|min_udp_poll_cnt|happy_eyeballs_connect_gap|happy_eyeballs_connect_limit|"
    "happy_eyeballs_connect_timeout|pconn_lifetime|cache_miss_revalidate|update_headers|"
    "stats_collection|diskd_program|unlinkd_program|authenticate_cache_garbage_interval|"
    "authenticate_ttl|global_internal_static";
constexpr std::string_view kAborts = "quick_abort_min|quick_abort_max|quick_abort_pct";
constexpr std::string_view kObsolete =
    "broken_vary_encoding|cache_vary|dns_testnames|dns_v4_fallback|dns_v4_first|extension_methods|"
    "hierarchy_stoplist|ignore_ims_on_miss|ignore_expect_100|server_http11|upgrade_http0.9|"
    "zero_buffers|wais_relay_host|wais_relay_port|balance_on_multiple_ip|httpd_accel_no_pmtu_disc|"
    "maximum_single_addr_tries|chunked_request_body_max_size";
constexpr std::string_view kOwn =
    "memory_cache_mode|memory_cache_shared|memory_replacement_policy|cache_replacement_policy|"
    "cache_swap_low|cache_swap_high|store_dir_select_algorithm|store_avg_object_size|"
    "store_objects_per_bucket|max_open_disk_fds|cache_swap_state|memory_pools|memory_pools_limit|"
    "client_db|collapsed_forwarding|collapsed_forwarding_access|read_ahead_gap|range_offset_limit|"
    "pipeline_prefetch|high_response_time_warning|high_page_fault_warning|high_memory_warning|"
    "sleep_after_fork|cpu_affinity_map|persistent_connection_after_error|detect_broken_pconn|"
    "tcp_recv_bufsize|accept_filter|httpd_suppress_version_string|delay_initial_bucket_level|"
    "shared_memory_locking|hopeless_kid_revival_delay|shared_transient_entries_limit|"
    "paranoid_hit_validation|acl_uses_indirect_client|delay_pool_uses_indirect_client|"
    "log_uses_indirect_client|tproxy_uses_indirect_client|eui_lookup|server_pconn_for_nonretriable";

constexpr Group kGroups[] = {
    {Kind::left,
     "no program changes URLs, so what it refuses, or sends elsewhere, passes: put its lists into "
     "access.block, which refuses hosts and the beginnings of URLs",
     kRewrite},
    {Kind::left,
     "no program names what is the same; a rule's drop_query leaves out parameters of a "
     "query",
     kStoreId},
    {Kind::left, "TLS is not opened: https through CONNECT passes unseen, also what this would end",
     kBump},
    {Kind::left, "certificates of servers are verified by the system's store", kTlsOut},
    {Kind::left, "there is no ICAP or eCAP, so what a service refuses or changes passes as it is",
     kAdapt},
    {Kind::unneeded, "no ICP or HTCP is needed: a neighbour is asked for what its digest claims",
     kIcp},
    {Kind::unneeded,
     "the digest is kept up to date, in Squid's form too; see the settings of digest", kDigest},
    {Kind::left, "there is no SNMP; /metrics is for Prometheus, /digest and /health are JSON",
     kSnmp},
    {Kind::left, "there is no WCCP; /wpad.dat and /proxy.pac lead clients to the proxy", kWccp},
    {Kind::left, "the system chooses the address and the marks of connections to origins",
     kOutgoing},
    {Kind::unneeded,
     "names are resolved as the system does, and kept for as long as their answers say", kDns},
    {Kind::left,
     "fields are not chosen one by one; see forwarded, forwarded_drop and "
     "forwarded_pass for those about clients",
     kFields},
    {Kind::left, "errors are plain text", kPages},
    {Kind::left, "there is nothing like it", kMail},
    {Kind::left, "log.format is \"squid\" or \"json\"", kLogs},
    {Kind::left, "no other program decides on access", kMoreAuth},
    {Kind::left, "bodies have no limit; cache.max_object limits what is stored", kBodies},
    {Kind::left, "limits.head is for requests and responses", kHeads},
    {Kind::left, "limits.bandwidth and limits.bandwidth_per_client are all there is", kUploads},
    {Kind::left, "there is no FTP: requests for ftp: are refused", kFtp},
    {Kind::changed, "the service's unit, or the setting user, says as whom it runs", kUser},
    {Kind::changed,
     "a fetch whose clients have left goes on if it is nearly done, or if it has other readers",
     kAborts},
    {Kind::unneeded, "it is obsolete: Squid 5 ignores it, too", kObsolete},
    {Kind::unneeded, "Hearsay decides this by itself", kTuning},
    {Kind::unneeded, "the limit of descriptors is raised as far as it may; limits.connections",
     kDescriptors},
    {Kind::unneeded,
     "it runs in the foreground, writes messages to stderr, and reopens its log at "
     "SIGUSR1",
     kRun},
    {Kind::left, "there is nothing like it", kRest},
    {Kind::unneeded, "Hearsay does without this setting", kOwn},
};

}  // namespace

bool is_read(std::string_view directive) {
  return lists(kRead, directive);
}

std::optional<Advice> advice_on(const Line& line) {
  if (const auto advice = advice_by_value(line)) return advice;
  for (const Group& group : kGroups) {
    if (lists(group.names, line.name)) return Advice{group.kind, group.what};
  }
  return std::nullopt;
}

}  // namespace proxy::command::squid
