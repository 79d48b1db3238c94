-- TARGET with each number from 1 to COUNT at its end; then wrk ends: -- TARGET COUNT
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

local head, tail, count
local n, answered = 0, 0

function init(args)
  head, tail = get(args[1] .. "#"):match("^(.*)#(.*)$")
  count = tonumber(args[2])
end

function request()
  n = n == count and 1 or n + 1
  return head .. n .. tail
end

function response()
  answered = answered + 1
  -- Meanwhile the last ones arrive. While a command runs in the foreground, wrk would ignore the signal.
  if answered == count then os.execute("(sleep 0.2; kill -INT $PPID) &") end
end
