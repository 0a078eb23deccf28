-- Makes text that a model, a tool or a repository wrote safe to show: whatever a
-- terminal, a statusline or the bidirectional algorithm would act on becomes a
-- visible sign. Pure; may be called in fast events.
local M = {}

local function codepoint(s)
  local a, b, c, d = s:byte(1, 4)
  if d then
    return (a % 0x08) * 0x40000 + (b % 0x40) * 0x1000 + (c % 0x40) * 0x40 + d % 0x40
  elseif c then
    return (a % 0x10) * 0x1000 + (b % 0x40) * 0x40 + c % 0x40
  end
  return (a % 0x20) * 0x40 + b % 0x40
end

local function named(s)
  return ('<U+%04X>'):format(codepoint(s))
end

-- A control character becomes its picture: ESC is shown as ␛.
local function picture(c)
  local n = c:byte()
  return '\226\144' .. string.char(0x80 + (n == 127 and 0x21 or n))
end

-- Characters that hide, reorder or break a line, as UTF-8. The joiners U+200C and
-- U+200D stay: scripts and emoji need them.
local hidden = {
  '\194[\128-\159]', -- C1 controls
  '\194\173', -- soft hyphen
  '\216\156', -- Arabic letter mark
  '\226\128[\139\142\143\168-\174]', -- zero width space, marks, separators, embeddings and overrides
  '\226\129[\160-\175]', -- word joiner, isolates, deprecated controls
  '\205\143', -- combining grapheme joiner
  '\225\133[\159\160]', -- Hangul fillers
  '\227\133\164',
  '\239\190\160',
  '\225\158[\180\181]', -- Khmer inherent vowels
  '\225\160[\139-\143]', -- Mongolian selectors
  '\226\160\128', -- Braille pattern without dots
  '\239\184[\128-\141]', -- variation selectors but those of emoji
  '\239\187\191', -- byte order mark
  '\239\191[\176-\187]', -- unassigned, interlinear annotation
  '\243\160[\128-\191][\128-\191]', -- tags, more variation selectors
}

--- Text of several lines.
---@param s any what is not a string counts as empty
---@return string
function M.text(s)
  if type(s) ~= 'string' then
    return ''
  end
  s = s:gsub('\r\n', '\n'):gsub('[%z\1-\8\11-\31\127]', picture)
  for _, pattern in ipairs(hidden) do
    s = s:gsub(pattern, named)
  end
  return s
end

--- Text on one line of at most max characters; what is left out shows as an ellipsis.
---@param s any
---@param max? integer
---@return string
function M.line(s, max)
  if type(s) ~= 'string' then
    return ''
  end
  s = M.text((vim.trim(s):gsub('%s+', ' ')))
  if not max or #s <= max then
    return s
  end
  local out = {}
  for c in s:gmatch('[%z\1-\127\192-\247][\128-\191]*') do
    out[#out + 1] = c
    if #out > max then
      return table.concat(out, '', 1, max - 1) .. '…'
    end
  end
  return s
end

--- Text for a statusline, which would evaluate what stands behind a percent sign.
---@param s any
---@param max? integer
---@return string
function M.status(s, max)
  return (M.line(s, max):gsub('%%', '％'))
end

return M
