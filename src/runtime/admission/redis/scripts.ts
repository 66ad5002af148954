import { LEDGER_LEASE_MS, spareDivisor } from '../../../domain/admission/ledger.ts';
import { RATE_WINDOW_MS } from '../../../domain/admission/rate-limits.ts';

// The first key is a sorted set of processes by the end of their lease. The others are hashes, one for each counter.
// Fields of a hash for each process: `t:<process>` is its share, `c:<process>` its stored use. Other fields: `b` is the
// base, the stored total without these stored uses. `v` is the version of the list of processes with a share. `w` is
// the start of the window in ms. Numbers are doubles: exact up to 2^53.

/**
 * Time without use after which a counter of a budget or of slots expires, in ms. The next request of a budget starts
 * from the stored total.
 */
const UNUSED_MS = 3_600_000;

/** Number of arguments of one request. */
const ASK_ARGUMENTS = 12;

/** `spareDivisor` as a Lua expression: from two processes on, it is a multiple of their number. */
const SPARE_DIVISOR = `processes <= 1 and ${spareDivisor(1)} or processes * ${spareDivisor(2) / 2}`;

// The ledger never writes a key of another type, or a value that is not a number. Such a key is removed, and such a
// value is read as zero. Otherwise one of them would fail the requests of all counters.
const HEAD = `
local function text(number) return string.format('%.0f', number) end
local function members(key)
  local flat = redis.pcall('HGETALL', key)
  if not flat.err then return flat end
  redis.call('DEL', key)
  return {}
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local me = ARGV[1]
local expired = redis.pcall('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
if type(expired) == 'table' then redis.call('DEL', KEYS[1]) end`;

/**
 * Answers requests for shares. Arguments: the process, then `ASK_ARGUMENTS` for each request. The answer begins with 1
 * when the process was not in the set of processes, else 0. For each request a row follows. It has whether the counter
 * is known, the granted amount, and the amount left before the grant. For counters of kind `window` it also has the
 * start of the window, and its remaining time in ms.
 */
export const ASK_SCRIPT = `${HEAD}
local joined = redis.call('ZADD', KEYS[1], text(now + ${LEDGER_LEASE_MS}), me)
redis.call('PEXPIRE', KEYS[1], ${4 * LEDGER_LEASE_MS})
local alive, processes = {}, 0
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  alive[name] = true
  processes = processes + 1
end
local divisor = ${SPARE_DIVISOR}
local answers = { joined }
for at = 2, #KEYS do
  local key = KEYS[at]
  local from = 2 + (at - 2) * ${ASK_ARGUMENTS}
  local kind, limit, held = ARGV[from], tonumber(ARGV[from + 1]), tonumber(ARGV[from + 2])
  local need, largest, atLimit = tonumber(ARGV[from + 3]), tonumber(ARGV[from + 4]), ARGV[from + 5] == '1'
  local spare, stored = tonumber(ARGV[from + 6]), tonumber(ARGV[from + 7])
  local base, version = ARGV[from + 8], tonumber(ARGV[from + 9])
  local joins, askedWindow = ARGV[from + 10] == '1', ARGV[from + 11]
  local flat = members(key)
  local shares, storedUses, currentBase, currentVersion, windowStart = {}, {}, 0, 0, 0
  for i = 1, #flat, 2 do
    local tag, value = string.sub(flat[i], 1, 2), tonumber(flat[i + 1]) or 0
    if tag == 't:' then shares[string.sub(flat[i], 3)] = value
    elseif tag == 'c:' then storedUses[string.sub(flat[i], 3)] = value
    elseif tag == 'b' then currentBase = value
    elseif tag == 'v' then currentVersion = value
    elseif tag == 'w' then windowStart = value end
  end
  local known = true
  local function remove(name)
    redis.call('HDEL', key, 't:' .. name, 'c:' .. name)
    shares[name] = nil
    if kind == 'spend' then
      currentBase = currentBase + (storedUses[name] or 0)
      storedUses[name] = nil
      currentVersion = currentVersion + 1
    end
  end
  if kind == 'window' then
    if #flat == 0 or now - windowStart >= ${RATE_WINDOW_MS} then
      redis.call('DEL', key)
      shares = {}
      windowStart = now
      redis.call('HSET', key, 'w', text(windowStart))
      redis.call('PEXPIRE', key, ${RATE_WINDOW_MS})
    end
    if askedWindow == '' then held = held + (shares[me] or 0)
    elseif tonumber(askedWindow) ~= windowStart then held = 0 end
  else
    for name in pairs(shares) do
      if not alive[name] or (joins and name == me) then remove(name) end
    end
    if kind == 'spend' then
      if currentVersion == 0 or (shares[me] == nil and stored > 0) then
        known = base ~= '' and version == currentVersion
      end
      if known then
        if base ~= '' and version == currentVersion then currentBase = tonumber(base) end
        if shares[me] == nil then currentVersion = currentVersion + 1 end
      end
    end
  end
  if known then
    local left, others = limit - currentBase - held, 0
    for name, value in pairs(shares) do
      if name ~= me then
        left = left - value
        others = others + value - (storedUses[name] or 0)
      end
    end
    local granted = 0
    if left >= need then granted = need
    elseif kind ~= 'spend' then granted = math.max(0, left)
    elseif left > 0 then granted = math.max(left, largest) end
    if left == 0 and others == 0 and atLimit then granted = largest end
    if left > need then granted = granted + math.floor(math.min(spare, (left - need) / divisor)) end
    local share = held + granted
    if kind == 'slots' and share == 0 then redis.call('HDEL', key, 't:' .. me)
    else redis.call('HSET', key, 't:' .. me, text(share)) end
    if kind == 'spend' then
      redis.call('HSET', key, 'c:' .. me, text(stored), 'b', text(currentBase), 'v', text(currentVersion))
    end
    if kind ~= 'window' then redis.call('PEXPIRE', key, ${UNUSED_MS}) end
    answers[#answers + 1] = { 1, text(granted), text(left), text(windowStart), text(windowStart + ${RATE_WINDOW_MS} - now) }
  else
    if currentVersion > 0 then redis.call('HSET', key, 'b', text(currentBase), 'v', text(currentVersion)) end
    answers[#answers + 1] = { 0, '0', '0', '0', '0' }
  end
end
return answers`;

/** Returns the version of each spend counter, and the sum that other processes have stored. Argument: the process. */
export const SNAPSHOT_SCRIPT = `${HEAD}
local answers = {}
for at = 2, #KEYS do
  local flat = members(KEYS[at])
  local v, stored = 0, 0
  for i = 1, #flat, 2 do
    local name = string.sub(flat[i], 3)
    if flat[i] == 'v' then v = tonumber(flat[i + 1]) or 0
    elseif string.sub(flat[i], 1, 2) == 'c:' and name ~= me then stored = stored + (tonumber(flat[i + 1]) or 0) end
  end
  answers[#answers + 1] = { text(v), text(stored) }
end
return answers`;
