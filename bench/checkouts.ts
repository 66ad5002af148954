// Compares the CPU of two checkouts of the product. Each turn has a new process and a new database file.
//   node bench/checkouts.ts --other <folder> --of spans [--cores 1|2] [--rounds 6] [--exports 600]
//   node bench/checkouts.ts --other <folder> --of calls [--rounds 6] [--seconds 3]
// Prints a table and changes no report. The dependencies of `--other` must be installed. CPU includes all threads of
// the process. CPU is comparable while other programs use the machine; spans/s and answers/s are not.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CORES, freePort, median, start, untilReady } from './measure.ts';
import { table } from './report.ts';
import { bodyOf, measured } from './rounds.ts';
import { startProduct } from './targets.ts';
import { SPANS_PER_EXPORT, traceTargets } from './trace-targets.ts';

const { values: options } = parseArgs({
  options: {
    other: { type: 'string' },
    of: { type: 'string', default: 'spans' },
    cores: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '6' },
    exports: { type: 'string', default: '600' },
    seconds: { type: 'string', default: '3' },
  },
});
if (options.other === undefined) throw new Error('Name the other checkout: --other <folder>.');
const CHECKOUTS = [join(import.meta.dirname, '..'), options.other];
const ROUNDS = Number(options.rounds);
const EXPORTS = Number(options.exports);
/** Exports before the measured ones, so that the code is compiled. */
const WARMING_EXPORTS = 600;
const WARMING_SECONDS = 4;

/**
 * Figures of one turn. CPU and `bytes` are for each span or call. `laterUs` is CPU after the end of the load; 0 for
 * spans, where it is not measured. `bytes` is the size of the database file; 0 for calls, where it is not measured.
 */
interface Turn {
  readonly cpuUs: number;
  readonly laterUs: number;
  readonly perSecond: number;
  readonly bytes: number;
}

async function spans(root: string, folder: string): Promise<Turn> {
  const targets = traceTargets(folder);
  try {
    const product = await targets.product('product', options.cores === '2' ? CORES.both : CORES.server, { root });
    await targets.round(product, WARMING_EXPORTS);
    const { cpuUs, spansPerSecond } = await targets.round(product, EXPORTS);
    await product.program.stop();
    return {
      cpuUs,
      laterUs: 0,
      perSecond: spansPerSecond,
      bytes: product.fileBytes() / ((EXPORTS + WARMING_EXPORTS) * SPANS_PER_EXPORT),
    };
  } finally {
    await targets.stop();
  }
}

async function calls(root: string, folder: string): Promise<Turn> {
  const upstreamPort = await freePort();
  const origin = `http://127.0.0.1:${upstreamPort}`;
  const command = [process.execPath, join(import.meta.dirname, 'upstream.ts'), String(upstreamPort)];
  const programs = [start('upstream', command, { core: CORES.load, log: join(folder, 'upstream.log') })];
  const launch: Parameters<typeof startProduct>[0] = (name, words, core, env = {}) => {
    const program = start(name, words, { core, log: join(folder, `${name}.log`), env });
    programs.push(program);
    return program;
  };
  try {
    await untilReady(`${origin}/calls`);
    const product = await startProduct(launch, 'product', folder, origin, { root });
    const order = (seconds: number) => ({
      url: product.url,
      headers: product.headers,
      body: bodyOf({ stream: false, promptBytes: 400 }),
      connections: 16,
      seconds,
      expectedStatus: 200,
    });
    await measured(product, order(WARMING_SECONDS), folder);
    const { cpuUs, laterUs, rps } = await measured(product, order(Number(options.seconds)), folder);
    return { cpuUs, laterUs, perSecond: rps, bytes: 0 };
  } finally {
    for (const program of programs.toReversed()) await program.stop();
  }
}

async function turn(root: string): Promise<Turn> {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
  try {
    return await (options.of === 'calls' ? calls : spans)(root, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const turnsOf = CHECKOUTS.map((): Turn[] => []);
// The order alternates, so that a drift of the machine affects both checkouts.
for (let round = 0; round < ROUNDS; round += 1)
  for (const place of round % 2 === 0 ? [0, 1] : [1, 0]) turnsOf[place]?.push(await turn(CHECKOUTS[place] ?? ''));

const withLater = ({ cpuUs, laterUs }: Turn): number => cpuUs + laterUs;
const figures = (turns: readonly Turn[]): readonly string[] =>
  [
    median(turns.map(({ cpuUs }) => cpuUs)),
    median(turns.map(({ laterUs }) => laterUs)),
    Math.min(...turns.map(withLater)),
    median(turns.map(({ perSecond }) => perSecond)),
    median(turns.map(({ bytes }) => bytes)),
  ].map((figure) => figure.toFixed(1));
const [own = [], other = []] = turnsOf;
console.log(
  table(
    [
      'Checkout',
      'CPU µs each, median',
      'later µs each, median',
      'CPU and later µs each, best',
      'answers or spans/s, median',
      'bytes each, median',
    ],
    [
      ['this', ...figures(own)],
      ['other', ...figures(other)],
    ],
  ),
);
const ratio = (figure: (turn: Turn) => number): string =>
  median(other.map((one, at) => figure(one) / figure(own[at] ?? one))).toFixed(2);
console.log(
  `\nOther over this, medians of paired ratios: CPU ${ratio(({ cpuUs }) => cpuUs)}, with deferred work ${ratio(withLater)}, answers or spans/s ${ratio(({ perSecond }) => perSecond)}`,
);
