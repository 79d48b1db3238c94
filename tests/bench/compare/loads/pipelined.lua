-- The same request, several at once: -- TARGET HOW-MANY
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

function init(args)
  local text = string.rep(get(args[1]), tonumber(args[2]))
  wrk.format = function() return text end
end
