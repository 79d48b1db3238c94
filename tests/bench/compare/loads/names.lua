-- TARGET with a number at its end: -- TARGET cycle|random COUNT, or -- TARGET once, each number once
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

local head, tail, order, count
local n = 0

function init(args)
  head, tail = get(args[1] .. "#"):match("^(.*)#(.*)$")
  order, count = args[2], tonumber(args[3])
end

function request()
  if order == "random" then
    n = math.random(count)
  else
    n = n == count and 1 or n + 1
  end
  return head .. n .. tail
end
