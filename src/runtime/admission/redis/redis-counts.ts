import type {
  AgedSample,
  CountsLedger,
  CountsReport,
  DeploymentCounts,
} from '../../../domain/routing/shared-counts.ts';
import { COUNTS_SCRIPT } from './counts-script.ts';
import { createScript, type RedisScripts, runScript } from './redis-script.ts';

const COUNTS = createScript(COUNTS_SCRIPT);

/** Number of last characters of the id of a process that name it. The first ones of a UUID may be its time. */
const PROCESS_CHARACTERS = 8;

/** Counts of deployments in Redis or Valkey. One script answers each exchange. */
export function createRedisCounts(redis: RedisScripts, namespace: string): CountsLedger {
  // Hash tag in braces: a cluster keeps all keys with it on one node, which the script needs.
  const prefix = `{${namespace}:routing}:`;
  return {
    async exchange(process, report) {
      const name = process.slice(-PROCESS_CHARACTERS);
      const use = `use:${report.minute ?? 0}`;
      const keys = [use, 'latencies', 'first-tokens', 'cooldowns', `${use}:${name}`].map((key) => prefix + key);
      const answer = await runScript(redis, COUNTS, keys, argumentsOf(name, report));
      if (!Array.isArray(answer) || answer.length !== 5)
        throw new Error('The answer of Redis to the script of counts has an unexpected form.');
      const [now, ...lists] = answer as [string, ...(readonly string[])[]];
      const [uses = [], latencies = [], firstTokens = [], cooldowns = []] = lists;
      return {
        deployments: countsIn({ use: uses, latencies, firstTokens }, { nowMs: Number(now), process: name }),
        cooldowns: pairsOf(cooldowns).map(([id, remaining]) => ({ id, remainingMs: Number(remaining) })),
      };
    },
  };
}

/** Arguments in the order in which `COUNTS_SCRIPT` reads them. */
function argumentsOf(process: string, { minute, deployments, cooldowns }: CountsReport): readonly string[] {
  return [
    process,
    minute === null ? '0' : '1',
    `${deployments.length}`,
    ...deployments.flatMap(({ id, requests, tokens, latencies, firstTokens }) => [
      id,
      `${requests}`,
      `${tokens}`,
      samplesText(latencies),
      samplesText(firstTokens),
    ]),
    ...cooldowns.flatMap(({ id, remainingMs }) => [id, `${Math.ceil(remainingMs)}`]),
  ];
}

const samplesText = (samples: readonly AgedSample[]): string =>
  samples.map(({ ageMs, latencyMs }) => `${Math.max(0, Math.round(ageMs))}:${Math.round(latencyMs)}`).join(';');

/** Fields and values of a hash. */
function pairsOf(flat: readonly string[]): readonly (readonly [field: string, value: string])[] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs;
}

/** Counts by deployment. Samples of the process itself are left out: it has them. */
function countsIn(
  hashes: Readonly<Record<'use' | 'latencies' | 'firstTokens', readonly string[]>>,
  about: { readonly nowMs: number; readonly process: string },
): readonly DeploymentCounts[] {
  const byId = new Map<string, { -readonly [Member in keyof DeploymentCounts]: DeploymentCounts[Member] }>();
  const countsOf = (id: string) => {
    const known = byId.get(id) ?? { id, requests: 0, tokens: 0, latencies: [], firstTokens: [] };
    byId.set(id, known);
    return known;
  };
  for (const [field, value] of pairsOf(hashes.use)) {
    const counts = countsOf(field.slice(2));
    const number = Number(value);
    if (Number.isFinite(number)) counts[field.startsWith('r:') ? 'requests' : 'tokens'] = number;
  }
  for (const [id, text] of pairsOf(hashes.latencies)) countsOf(id).latencies = samplesIn(text, about);
  for (const [id, text] of pairsOf(hashes.firstTokens)) countsOf(id).firstTokens = samplesIn(text, about);
  return [...byId.values()];
}

function samplesIn(
  text: string,
  { nowMs, process }: { readonly nowMs: number; readonly process: string },
): readonly AgedSample[] {
  return text.split(';').flatMap((sample) => {
    const [atMs = '', latencyMs = '', by = ''] = sample.split(':');
    const read = { ageMs: nowMs - Number(atMs), latencyMs: Number(latencyMs) };
    return by === process || !Number.isFinite(read.ageMs) || !Number.isFinite(read.latencyMs) || by === ''
      ? []
      : [read];
  });
}
