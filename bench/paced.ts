import { join } from 'node:path';
import { CORES, consumption, median, pinned, run } from './measure.ts';
import { settle } from './rounds.ts';
import type { Target } from './targets.ts';

/** Figures of paced streams: delays from the upstream's write to the client's read, in microseconds. */
export interface PacedReport {
  readonly streams: number;
  readonly chunks: number;
  readonly lost: number;
  readonly disordered: number;
  /** Delays of the chunks after the first one. */
  readonly p50Us: number;
  readonly p99Us: number;
  /** Median delay of the first chunk of a stream. */
  readonly firstP50Us: number;
}

export interface PacedRound extends PacedReport {
  /** CPU of the server for each chunk. */
  readonly cpuUs: number;
}

export type PacedRounds = ReadonlyMap<string, readonly PacedRound[]>;

/** Loads the targets in turn with concurrent streams of one chunk every 10 ms. */
export async function pacedInTurn(
  targets: readonly Target[],
  {
    body,
    connections,
    seconds,
    rounds,
  }: Readonly<Record<'connections' | 'seconds' | 'rounds', number>> & { body: string },
): Promise<PacedRounds> {
  const script = join(import.meta.dirname, 'paced-load.ts');
  const results = new Map<string, PacedRound[]>(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) {
      const { name, url, headers, program } = target;
      const before = consumption(program.pid);
      const order = { url, headers, body, connections, seconds, expectedStatus: 200 };
      const output = await run(pinned(CORES.load, [process.execPath, script]), { LOAD: JSON.stringify(order) });
      const report: PacedReport = JSON.parse(output);
      const cpuUs = (consumption(program.pid).cpuNs - before.cpuNs) / 1e3 / report.chunks;
      results.get(name)?.push({ ...report, cpuUs });
      await settle(target);
    }
  }
  return results;
}

/** Figures of one target: sums of the counts, medians of the delays, and CPU of the best round. */
export function pacedOf(rounds: PacedRounds, name: string): PacedRound {
  const results = rounds.get(name) ?? [];
  const middle = (field: keyof PacedRound): number => median(results.map((round) => round[field]));
  const sum = (field: 'lost' | 'disordered' | 'chunks' | 'streams'): number =>
    results.reduce((total, round) => total + round[field], 0);
  return {
    streams: sum('streams'),
    chunks: sum('chunks'),
    lost: sum('lost'),
    disordered: sum('disordered'),
    p50Us: middle('p50Us'),
    p99Us: middle('p99Us'),
    firstP50Us: middle('firstP50Us'),
    cpuUs: results.length === 0 ? Number.NaN : Math.min(...results.map(({ cpuUs }) => cpuUs)),
  };
}

export const PACED_HEAD = [
  'Streams at once',
  'Target',
  'delay p50 µs',
  'p99 µs',
  'first p50 µs',
  'CPU µs a chunk, best',
  'streams',
  'lost',
  'out of order',
];

export function pacedRows(connections: number, rounds: PacedRounds): (string | number)[][] {
  return [...rounds.keys()].map((name) => {
    const measured = pacedOf(rounds, name);
    const [p50, p99, first] = [measured.p50Us, measured.p99Us, measured.firstP50Us].map(Math.round);
    return [
      connections,
      name,
      p50 ?? '',
      p99 ?? '',
      first ?? '',
      measured.cpuUs.toFixed(1),
      measured.streams,
      measured.lost,
      measured.disordered,
    ];
  });
}
