import { setTimeout as after } from 'node:timers/promises';
import { type LoadOrder, type LoadReport, load } from './load.ts';
import { consumption, median } from './measure.ts';
import type { Target } from './targets.ts';

export interface Round extends LoadReport {
  readonly rps: number;
  readonly cpuUs: number;
  /** CPU of deferred work after the end of the load, in µs per answer. */
  readonly laterUs: number;
  readonly rssMiB: number;
}

/** One kind of load, for all targets in turn. */
export interface Trial {
  readonly title: string;
  readonly stream: boolean;
  readonly connections: number;
  readonly promptBytes: number;
}

export type Rounds = ReadonlyMap<string, readonly Round[]>;

/** Request body of a trial. `pace` makes the fake upstream send a chunk every 10 ms. */
export function bodyOf({ stream, promptBytes }: Pick<Trial, 'stream' | 'promptBytes'>, pace = false): string {
  const words = 'lorem ipsum dolor sit amet ';
  const prompt = words
    .repeat(Math.ceil(promptBytes / words.length))
    .slice(0, promptBytes)
    .trim();
  return JSON.stringify({
    model: 'bench-model',
    messages: [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: prompt },
    ],
    ...(stream ? { stream: true } : {}),
    ...(pace ? { user: 'paced' } : {}),
  });
}

export async function measured(target: Target, order: LoadOrder, folder: string): Promise<Round> {
  const before = consumption(target.program.pid);
  const report = await load(order, folder);
  const { cpuNs, rss } = consumption(target.program.pid);
  await settle(target);
  const later = consumption(target.program.pid).cpuNs - cpuNs;
  return {
    ...report,
    rps: report.requests / (report.elapsedUs / 1e6),
    cpuUs: (cpuNs - before.cpuNs) / 1e3 / report.requests,
    laterUs: later / 1e3 / report.requests,
    rssMiB: rss / 2 ** 20,
  };
}

/** Waits for the deferred work of a target, so that it is not measured for the next one. */
export async function settle({ settled }: Target): Promise<void> {
  await after(500);
  await settled?.();
}

/** Loads each target once per round, so that a slow phase of the machine affects all of them. */
export async function inTurn(
  targets: readonly Target[],
  {
    order,
    rounds: count,
    folder,
  }: {
    readonly order: Omit<LoadOrder, 'url' | 'headers'>;
    readonly rounds: number;
    readonly folder: string;
  },
): Promise<Rounds> {
  const rounds = new Map<string, Round[]>(targets.map(({ name }) => [name, []]));
  const orderFor = ({ url, headers }: Target, seconds: number): LoadOrder => ({ ...order, url, headers, seconds });
  // A load of one second that is not measured.
  for (const target of targets) {
    await load(orderFor(target, 1), folder);
    await settle(target);
  }
  for (let round = 0; round < count; round += 1) {
    for (const target of targets) {
      rounds.get(target.name)?.push(await measured(target, orderFor(target, order.seconds), folder));
    }
  }
  return rounds;
}

export const pick = (rounds: Rounds, name: string): readonly Round[] => rounds.get(name) ?? [];
export const medianOf = (rounds: readonly Round[], field: keyof Round): number =>
  median(rounds.map((round) => round[field]));
export const least = (rounds: readonly Round[], field: keyof Round): number =>
  rounds.length === 0 ? Number.NaN : Math.min(...rounds.map((round) => round[field]));

/** The median of the ratios of the rounds. */
export function ratio(rounds: Rounds, of: string, to: string, field: keyof Round): number {
  const base = pick(rounds, to);
  return median(pick(rounds, of).map((round, index) => round[field] / (base[index]?.[field] ?? Number.NaN)));
}

export const ROUNDS_HEAD = [
  'Trial',
  'Target',
  'answers/s',
  'p50 µs',
  'p99 µs',
  'p99 best',
  'CPU µs each, best',
  'later µs each, best',
  'RSS MiB',
  'bad',
];

export function rowsOf(title: string, rounds: Rounds): (string | number)[][] {
  return [...rounds].map(([name, results]) => [
    title,
    name,
    Math.round(medianOf(results, 'rps')),
    Math.round(medianOf(results, 'p50Us')),
    Math.round(medianOf(results, 'p99Us')),
    Math.round(least(results, 'p99Us')),
    least(results, 'cpuUs').toFixed(1),
    least(results, 'laterUs').toFixed(1),
    Math.round(medianOf(results, 'rssMiB')),
    results.reduce((sum, { bad }) => sum + bad, 0),
  ]);
}
