-- The same request; each connection pauses after each response: -- TARGET MILLISECONDS
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

local pause

function init(args)
  local text = get(args[1])
  pause = tonumber(args[2])
  wrk.format = function() return text end
end

function delay() return pause end
