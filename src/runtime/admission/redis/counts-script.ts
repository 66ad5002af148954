import { MAX_SHARED_SAMPLES } from '../../../domain/routing/shared-counts.ts';

/** Time without a change after which samples of latencies expire, in ms. */
const SAMPLES_MS = 3_600_000;
/** Time after which the use of a minute expires, in ms. */
const USE_MS = 120_000;
/** Time without a new cooldown after which all cooldowns expire, in ms: the longest cooldown of a setting. */
const COOLDOWNS_MS = 86_400_000;
/** Number of fields above which a hash is removed. Removed deployments leave their fields. */
const MAX_FIELDS = 10_000;
/** The same for hashes with two fields for each deployment. */
const MAX_USE_FIELDS = 2 * MAX_FIELDS;

/**
 * Adds the report of a process to the counts of all processes, and returns them. Keys are hashes: the use of the
 * minute, latencies, times to the first byte, cooldowns, and the use of the minute by this process. The last one is
 * subtracted from a report, so that a report that was sent twice, because its answer was late, counts once.
 *
 * Arguments: the process, whether it needs counts (1 or 0), and the number of deployments. For each deployment, five
 * follow: its id, requests, tokens, latencies and times to the first byte. For each cooldown, its id and its remaining
 * time in ms follow. Samples are `<age>:<latency>`, joined by `;`. Stored samples are `<time>:<latency>:<process>`.
 *
 * The answer has the time in ms, the three hashes of counts, and a list of cooldowns: ids and their remaining time.
 */
export const COUNTS_SCRIPT = `
local function text(number) return string.format('%.0f', number) end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local me, needsCounts, deployments = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3])
for _, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  local most = (key == KEYS[1] or key == KEYS[5]) and ${MAX_USE_FIELDS} or ${MAX_FIELDS}
  if (kind ~= 'hash' and kind ~= 'none') or (kind == 'hash' and redis.call('HLEN', key) > most) then
    redis.call('DEL', key)
  end
end
local use, latencies, firstTokens, cooldowns, own = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local function add(field, total)
  local change = total - (tonumber(redis.call('HGET', own, field)) or 0)
  if change == 0 then return end
  redis.call('HSET', use, field, text((tonumber(redis.call('HGET', use, field)) or 0) + change))
  redis.call('PEXPIRE', use, ${USE_MS})
  redis.call('HSET', own, field, text(total))
  redis.call('PEXPIRE', own, ${USE_MS})
end
local function append(key, id, samples)
  if samples == '' then return end
  local kept = {}
  for sample in string.gmatch(redis.call('HGET', key, id) or '', '[^;]+') do kept[#kept + 1] = sample end
  for age, latency in string.gmatch(samples, '(%d+):(%d+)') do
    kept[#kept + 1] = text(now - tonumber(age)) .. ':' .. latency .. ':' .. me
  end
  redis.call('HSET', key, id, table.concat(kept, ';', math.max(1, #kept - ${MAX_SHARED_SAMPLES - 1})))
  redis.call('PEXPIRE', key, ${SAMPLES_MS})
end
local at = 4
for _ = 1, deployments do
  local id = ARGV[at]
  add('r:' .. id, tonumber(ARGV[at + 1]))
  add('t:' .. id, tonumber(ARGV[at + 2]))
  append(latencies, id, ARGV[at + 3])
  append(firstTokens, id, ARGV[at + 4])
  at = at + 5
end
while at < #ARGV do
  local ends = now + tonumber(ARGV[at + 1])
  if ends > (tonumber(redis.call('HGET', cooldowns, ARGV[at])) or 0) then
    redis.call('HSET', cooldowns, ARGV[at], text(ends))
    redis.call('PEXPIRE', cooldowns, ${COOLDOWNS_MS})
  end
  at = at + 2
end
local cooling, flat = {}, redis.call('HGETALL', cooldowns)
for i = 1, #flat, 2 do
  local remaining = (tonumber(flat[i + 1]) or 0) - now
  if remaining > 0 then
    cooling[#cooling + 1] = flat[i]
    cooling[#cooling + 1] = text(remaining)
  else
    redis.call('HDEL', cooldowns, flat[i])
  end
end
if not needsCounts then return { text(now), {}, {}, {}, cooling } end
return {
  text(now), redis.call('HGETALL', use), redis.call('HGETALL', latencies), redis.call('HGETALL', firstTokens), cooling,
}`;
