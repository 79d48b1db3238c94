-- Prints what the script reads of a run: requests, microseconds, errors, timeouts, p99 in microseconds.
function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format("result %d %d %d %d %d", summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status, errors.timeout, latency:percentile(99)))
end

-- A GET request for TARGET. In absolute form the Host field names the origin.
function get(target, fields)
  local host = target:match("^http://([^/]*)") or (wrk.host .. ":" .. wrk.port)
  return "GET " .. target .. " HTTP/1.1\r\nHost: " .. host .. "\r\n" .. (fields or "") .. "\r\n"
end
