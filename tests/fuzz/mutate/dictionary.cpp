#include "tests/fuzz/mutate/dictionary.hpp"

namespace fuzz {
namespace {

constexpr std::string_view kFieldLines[] = {
    // caching
    "Cache-Control: max-age=60", "Cache-Control: s-maxage=600, max-age=0",
    "Cache-Control: no-store", "Cache-Control: no-cache", "Cache-Control: private",
    "Cache-Control: public, max-age=31536000, immutable", "Cache-Control: must-revalidate",
    "Cache-Control: stale-while-revalidate=30, max-age=1", "Cache-Control: stale-if-error=9999",
    "Cache-Control: only-if-cached", "Cache-Control: max-stale", "Cache-Control: min-fresh=5",
    "Cache-Control: max-age=0", "Cache-Control: no-cache=\"Set-Cookie\"",
    "Cache-Control: private=\"X-Select\"", "Cache-Control: max-age=99999999999999999999",
    "Cache-Control: must-understand, no-store", "Pragma: no-cache", "Age: 59", "Age: 2147483648",
    "Date: Mon, 05 Jan 2026 00:00:00 GMT", "Date: Thu, 01 Jan 1970 00:00:00 GMT",
    "Expires: Mon, 05 Jan 2026 01:00:00 GMT", "Expires: 0",
    "Last-Modified: Mon, 05 Jan 2026 00:00:00 GMT", "Last-Modified: Fri, 02 Jan 2026 00:00:00 GMT",
    "Hearsay-Cache-Control: max-age=60", "CDN-Cache-Control: no-store", "Vary: X-Select",
    "Vary: Accept-Encoding, Accept-Language", "Vary: *", "Vary: Origin", "X-Select: a",
    "X-Select: b", "Accept-Encoding: gzip", "Accept-Encoding: br, identity;q=0",
    "Accept-Language: de", "Set-Cookie: a=b; Path=/", "Cookie: a=b", "Authorization: Basic YTph",
    "Content-Location: /other", "Location: http://192.0.2.7/moved", "Content-Encoding: gzip",
    "Content-Type: text/plain", "Cache-Status: cache-b; hit; ttl=30",
    "Cache-Status: b; fwd=uri-miss; detail=gone", "X-Cache-Lookup: MISS from b:3128",
    // ranges
    "Range: bytes=0-3", "Range: bytes=4-", "Range: bytes=-2", "Range: bytes=0-0,2-3",
    "Range: bytes=0-18446744073709551615", "Range: bytes=1048576-1048580", "If-Range: \"v1\"",
    "If-Range: W/\"v1\"", "If-Range: Mon, 05 Jan 2026 00:00:00 GMT", "Content-Range: bytes 0-3/10",
    "Content-Range: bytes 4-9/10", "Content-Range: bytes 0-3/*", "Content-Range: bytes */10",
    "Accept-Ranges: bytes", "Content-Type: multipart/byteranges; boundary=x",
    // conditions
    "ETag: \"v1\"", "ETag: W/\"v1\"", "ETag: \"v2\"", "If-None-Match: \"v1\"",
    "If-None-Match: W/\"v1\", \"v2\"", "If-None-Match: *", "If-Match: \"v1\"",
    "If-Modified-Since: Mon, 05 Jan 2026 00:00:00 GMT",
    "If-Unmodified-Since: Mon, 05 Jan 2026 00:00:00 GMT",
    // Connection, and other fields of one hop
    "Connection: close", "Connection: keep-alive", "Connection: Upgrade", "Connection: X-Select",
    "Connection: Accept-Language, close", "Connection: Host", "Connection: Content-Length",
    "Connection: Transfer-Encoding", "Connection: Cache-Control", "Connection: X-Forwarded-For",
    "Keep-Alive: timeout=1", "Proxy-Connection: keep-alive", "Proxy-Authorization: Basic YTph",
    "TE: trailers", "Trailer: X-Sum", "Upgrade: websocket", "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQAAP__",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
    "Expect: 100-continue", "Max-Forwards: 0", "Max-Forwards: 1",
    // framing
    "Content-Length: 0", "Content-Length: 4", "Content-Length: 10", "Content-Length: 4, 4",
    "Content-Length: +4", "Content-Length: 18446744073709551616", "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
    "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding:\vchunked",
    // the host, and where a request came from
    "Host: 192.0.2.7", "Host: 192.0.2.7:80", "Host: 127.0.0.1:3128", "Host: site.test",
    "Host: [2001:db8::1]", "Host: a@b", "Origin: http://site.test", "Via: 1.1 cache-a",
    "Via: 1.0 other (x), 1.1 cache-b", "Forwarded: for=192.0.2.60;host=evil.test",
    "Forwarded: for=\"[2001:db8::1]\"", "X-Forwarded-For: 10.0.0.1", "X-Forwarded-Host: evil.test",
    "X-Forwarded-Proto: https", "X-Forwarded-Port: 444", "X-Forwarded-Prefix: /evil",
    "X-Original-URL: /evil", "X-Rewrite-URL: /evil", "X-Real-IP: 10.0.0.1", "X-Host: evil.test",
    "X-HTTP-Method-Override: DELETE", "X_Forwarded_Host: evil.test",
    // mirrors
    "Location: http://192.0.2.8/s?sig=1", "Location: //192.0.2.8/s", "Location: ../b",
    "Location: https://192.0.2.8/s", "Retry-After: 5",
    "Repr-Digest: sha-256=:hNiYd/DUBB77a/kaFvAkjy/VcwXmr5wZ+Wvtv4gveII=:",
    "Docker-Content-Digest: "
    "sha256:84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882",
    "WWW-Authenticate: Bearer realm=\"https://192.0.2.7/token\",service=\"a\"", "X-Linked-Size: 10",
    "X-Linked-Etag: \"v1\"", "X-Repo-Commit: a", "Private-Token: a",
    // ours
    "X-Hearsay: 1", "Server: Hearsay/0.1.0", "Server: squid/5.7", "X-Squid-Error: ERR_DNS_FAIL 0",
    // forms that are not allowed
    "X-Select : a", "X-Select:", ": a", "X-Select", " folded", "X-Select: a\rb"};

constexpr std::string_view kMethods[] = {"GET",     "HEAD",  "POST",    "PUT",   "DELETE",
                                         "OPTIONS", "TRACE", "CONNECT", "PURGE", "PATCH"};

constexpr std::string_view kStatuses[] = {
    "HTTP/1.1 100", "HTTP/1.1 101", "HTTP/1.1 103", "HTTP/1.1 200", "HTTP/1.0 200", "HTTP/1.1 203",
    "HTTP/1.1 204", "HTTP/1.1 206", "HTTP/1.1 301", "HTTP/1.1 304", "HTTP/1.1 404", "HTTP/1.1 412",
    "HTTP/1.1 416", "HTTP/1.1 500", "HTTP/1.1 502", "HTTP/1.1 503", "HTTP/1.1 504", "HTTP/2.0 200"};

constexpr std::string_view kDescriptions[] = {"Content-Encoding: gzip",
                                              "Content-Encoding: identity",
                                              "Content-Type: text/plain",
                                              "Content-Type: text/html",
                                              "Content-Range: bytes 0-3/10",
                                              "Content-Range: bytes 4-9/10",
                                              "Content-Range: bytes 4-9/12",
                                              "Content-Range: bytes */10",
                                              "Content-Length: 4",
                                              "Content-Length: 10",
                                              "Transfer-Encoding: chunked",
                                              "ETag: \"v1\"",
                                              "ETag: \"v2\"",
                                              "ETag: W/\"v1\"",
                                              "Last-Modified: Fri, 02 Jan 2026 00:00:00 GMT",
                                              "Last-Modified: Sat, 03 Jan 2026 00:00:00 GMT"};

}  // namespace

std::span<const std::string_view> field_lines() {
  return kFieldLines;
}

std::span<const std::string_view> methods() {
  return kMethods;
}

std::span<const std::string_view> statuses() {
  return kStatuses;
}

std::span<const std::string_view> descriptions() {
  return kDescriptions;
}

}  // namespace fuzz
