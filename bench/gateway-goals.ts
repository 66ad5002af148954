import { median } from './measure.ts';
import { type PacedRounds, pacedOf } from './paced.ts';
import { verdictOn } from './report.ts';
import { least, medianOf, pick, ratio, type Round, type Rounds, type Trial } from './rounds.ts';

/** Figures of one run; unmeasured ones are empty. */
export interface RunFigures {
  readonly trials: ReadonlyMap<Trial, Rounds>;
  readonly flood: Rounds;
  readonly accounting: Rounds;
  readonly paced: ReadonlyMap<number, PacedRounds>;
}

/**
 * A goal and its figure. `what` begins with the number of the goal in bench/RESULTS.md; a variant of the goal before it
 * begins with `the same`. `must` is the required bound, `reach` the desired one.
 */
interface Goal {
  readonly what: string;
  readonly figure: number;
  readonly must: number;
  readonly reach: number;
  readonly unit: string;
  readonly better: 'more' | 'less';
}

const PRODUCT = 'lensgate';

export function goalsOf({ trials, flood, accounting, paced }: RunFigures): readonly Goal[] {
  const at = (connections: number, stream = false, promptBytes = SMALL_PROMPT): Rounds =>
    [...trials].find(
      ([trial]) => trial.stream === stream && trial.connections === connections && trial.promptBytes === promptBytes,
    )?.[1] ?? new Map();
  const [one, sixteen, sixtyFour, large, streams] = [at(1), at(16), at(64), at(16, false, LARGE_PROMPT), at(16, true)];
  const cpuOver = (rounds: Rounds, other: string): number => cpuOf(rounds, PRODUCT) / cpuOf(rounds, other);
  const accountingCpu = (1 - cpuOf(accounting, NO_ACCOUNTING) / cpuOf(accounting, PRODUCT)) * 100;
  const rpsOver = (rounds: Rounds, other: string): number => ratio(rounds, PRODUCT, other, 'rps');
  const added = median(
    pick(one, PRODUCT).map((round, index) => round.p50Us - (pick(one, 'nginx')[index]?.p50Us ?? Number.NaN)),
  );
  const tail = (name: string): number => least(pick(sixteen, name), 'p99Us') / medianOf(pick(sixteen, name), 'p50Us');
  const rss = (name: string): number => medianOf(pick(sixtyFour, name), 'rssMiB' satisfies keyof Round);
  // Rounds of 16 and of 64 paced streams.
  const few = paced.get(16) ?? new Map();
  const many = paced.get(64) ?? new Map();
  // A target as fast as nginx, or faster, counts as adding 1 µs: a ratio needs a positive divisor.
  const delayAdded = (name: string): number => Math.max(pacedOf(many, name).p50Us - pacedOf(many, 'nginx').p50Us, 1);
  const chunkCpu = (name: string): number => pacedOf(many, name).cpuUs;
  const more = (what: string, figure: number, must: number, reach: number, unit = '×'): Goal => ({
    what,
    figure,
    must,
    reach,
    unit,
    better: 'more',
  });
  const less = (what: string, figure: number, must: number, reach: number, unit = '×'): Goal => ({
    what,
    figure,
    must,
    reach,
    unit,
    better: 'less',
  });
  return [
    more('1 answers/s over node-undici, 16 clients', rpsOver(sixteen, 'node-undici'), 0.5, 1.1),
    more('1 answers/s over node-undici, 64 clients', rpsOver(sixtyFour, 'node-undici'), 0.5, 1.1),
    more('1 answers/s over Portkey, 16 clients', rpsOver(sixteen, 'portkey'), 8, 15),
    more('1 answers/s over Portkey, 64 clients', rpsOver(sixtyFour, 'portkey'), 8, 15),
    less('2 CPU of a call over nginx, 16 clients', cpuOver(sixteen, 'nginx'), 8, 4),
    less('3 p50 added to nginx, 1 client', added, 150, 60, ' µs'),
    less(
      '4 tail (p99 of the best round, divided by p50) over node-undici, 16 clients',
      tail(PRODUCT) / tail('node-undici'),
      1.3,
      1,
    ),
    less('4 p99 of the best round, 16 clients', least(pick(sixteen, PRODUCT), 'p99Us') / 1e3, 40, 10, ' ms'),
    less('5 CPU of a call over nginx, prompt of 100 kB', cpuOver(large, 'nginx'), 4, 2.5),
    more(
      '5 CPU of Portkey as it ships (Node 20) over ours, prompt of 100 kB',
      1 / cpuOver(large, PORTKEY_AS_SHIPPED),
      12,
      20,
    ),
    more('the same with Portkey on our Node', 1 / cpuOver(large, 'portkey'), 12, 20),
    more('6 bad keys refused/s over Koa hello', rpsOver(flood, 'koa-hello'), 0.6, 0.9),
    less(
      '7 first chunk, p50 added to nginx, 16 paced streams',
      (pacedOf(few, PRODUCT).firstP50Us - pacedOf(few, 'nginx').firstP50Us) / 1e3,
      2,
      0.5,
      ' ms',
    ),
    less(
      '8 added chunk delay, p50, over that of node-http, 64 paced streams',
      delayAdded(PRODUCT) / delayAdded('node-http'),
      1.5,
      1,
    ),
    less('8 CPU a chunk over node-http, 64 paced streams', chunkCpu(PRODUCT) / chunkCpu('node-http'), 1.5, 1),
    less(
      '8 chunks lost or out of order, 64 paced streams',
      // Without chunks nothing was measured, and 0 lost chunks would be within both bounds.
      pacedOf(many, PRODUCT).chunks === 0
        ? Number.NaN
        : pacedOf(many, PRODUCT).lost + pacedOf(many, PRODUCT).disordered,
      0,
      0,
      '',
    ),
    more('9 streams/s over node-undici, 16 clients', rpsOver(streams, 'node-undici'), 0.5, 0.9),
    more('9 streams/s over Portkey, 16 clients', rpsOver(streams, 'portkey'), 5, 8),
    less(
      '10 answers/s lost to accounting, 16 clients',
      (1 - ratio(accounting, PRODUCT, NO_ACCOUNTING, 'rps')) * 100,
      15,
      5,
      ' %',
    ),
    less('10 share of CPU for accounting, deferred work included', accountingCpu, 15, 5, ' %'),
    less('21 memory under load over Portkey, 64 clients', rss(PRODUCT) / rss('portkey'), 0.8, 0.5),
  ];
}

/** CPU of an answer with its deferred work, from the best rounds. */
const cpuOf = (rounds: Rounds, name: string): number =>
  least(pick(rounds, name), 'cpuUs') + least(pick(rounds, name), 'laterUs');

export const SMALL_PROMPT = 400;
export const LARGE_PROMPT = 100_000;
/** Portkey on the Node of its own image. */
export const PORTKEY_AS_SHIPPED = 'portkey, Node 20';
/** The product without accounting. */
export const NO_ACCOUNTING = 'lensgate, no accounting';

export const GOALS_HEAD = ['Goal', 'Required', 'Desired', 'Measured', 'Verdict'];

/** The goals with the figures of each run. A bound holds if it held in at least two thirds of the runs. */
export const goalRows = (runs: readonly (readonly Goal[])[]): string[][] =>
  (runs[0] ?? []).map(({ what, must, reach, unit, better }, at) => {
    const figures = runs.map((goals) => goals[at]?.figure ?? Number.NaN);
    const holds = (bound: number): boolean => {
      const held = figures.filter((value) => (better === 'more' ? value >= bound : value <= bound)).length;
      return held * 3 >= figures.length * 2;
    };
    const sign = better === 'more' ? '≥' : '≤';
    const measured = !figures.some(Number.isNaN);
    const verdict = measured ? verdictOn(holds(must), holds(reach)) : 'not measured here';
    return [
      what,
      `${sign} ${must}${unit}`,
      `${sign} ${reach}${unit}`,
      measured ? `${figures.map((value) => value.toFixed(2)).join(' / ')}${unit}` : '',
      verdict,
    ];
  });
