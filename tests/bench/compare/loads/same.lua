-- The same request again and again: -- TARGET [FIELD-LINE]
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

function init(args)
  local text = get(args[1], args[2] and args[2] .. "\r\n")
  wrk.format = function() return text end  -- wrk calls it once, as there is no request()
end
