// Time of the product and its peers from exec to the first 200, and their idle memory. Writes its part of
// bench/RESULTS.md.
//   npm run bench:startup -- [--runs 7]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { consumption, CORES, freePort, machine, median, productCommand, run, start, untilReady } from './measure.ts';
import { installPortkey } from './portkey.ts';
import { table, verdictOn, writePart } from './report.ts';

const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '7' } } });
const RUNS = Number(options.runs);
const IDLE_MS = 2_000;

const BARE = 'bare node:http';
const FIRST = 'lensgate, empty data folder';
const AGAIN = 'lensgate, again';
const PORTKEY = 'portkey';

interface Start {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly rssMiB: number;
}

async function once(
  name: string,
  path: string,
  command: (port: number) => readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<Start> {
  const port = await freePort();
  const program = start(name, command(port), { core: CORES.server, log: join(folder, `${name}.log`), env });
  try {
    const readyMs = await untilReady(`http://127.0.0.1:${port}${path}`);
    const cpuMs = consumption(program.pid).cpuNs / 1e6;
    await after(IDLE_MS);
    return { readyMs, cpuMs, rssMiB: consumption(program.pid).rss / 2 ** 20 };
  } finally {
    await program.stop();
  }
}

const hello = join(import.meta.dirname, 'node-hello.mjs');
const folder = mkdtempSync(join(tmpdir(), 'lensgate-startup-'));
try {
  const portkey = await installPortkey(folder);
  // The bundle is built before the measurement, as in an install.
  await run(['npm', 'run', '--silent', 'build']);
  const startsOfName = new Map<string, Start[]>();
  const take = (name: string, one: Start): void =>
    void startsOfName.set(name, [...(startsOfName.get(name) ?? []), one]);
  for (let turn = 0; turn <= RUNS; turn += 1) {
    const env = {
      LENSGATE_DATA_DIR: join(folder, `data-${turn}`),
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
    };
    const bare = (port: number) => [process.execPath, hello, String(port)];
    const product = (port: number) => productCommand(['--port', String(port), '--host', '127.0.0.1']);
    const starts = [
      [BARE, () => once('hello', '/', bare, folder, {})],
      [FIRST, () => once('lensgate', '/health/readiness', product, folder, env)],
      [AGAIN, () => once('lensgate', '/health/readiness', product, folder, env)],
      ...(portkey === null
        ? []
        : [[PORTKEY, () => once('portkey', '/', portkey, folder, { NODE_ENV: 'production' })] as const]),
    ] as const;
    for (const [name, begin] of starts) {
      const figures = await begin();
      // The first start of each target fills the file cache and the compile cache.
      if (turn > 0) take(name, figures);
    }
  }
  const valuesOf = (name: string, field: keyof Start): readonly number[] =>
    (startsOfName.get(name) ?? []).map((one) => one[field]);
  const middle = (name: string, field: keyof Start): number => median(valuesOf(name, field));
  const rows = [...startsOfName.keys()].map((name) => [
    name,
    Math.round(middle(name, 'readyMs')),
    Math.round(Math.min(...valuesOf(name, 'readyMs'))),
    Math.round(middle(name, 'cpuMs')),
    Math.round(middle(name, 'rssMiB')),
  ]);
  const report = table(
    ['Program', 'ready ms, median', 'ready ms, best', 'CPU ms until then, median', 'idle RSS MiB, median'],
    rows,
  );
  const ready = middle(FIRST, 'readyMs');
  const beside =
    portkey === null ? 'Portkey was not available' : `${(ready / middle(PORTKEY, 'readyMs')).toFixed(2)} × Portkey`;
  const measured = `${Math.round(ready)} ms, ${(ready / middle(BARE, 'readyMs')).toFixed(1)} × bare Node, ${beside}`;
  const idle = middle(AGAIN, 'rssMiB');
  // The number before a goal is its number in bench/RESULTS.md.
  const goals = table(
    ['Goal', 'Required', 'Desired', 'Measured', 'Verdict'],
    [
      [
        '20 first 200, empty data folder',
        '≤ 300 ms',
        '≤ 2 × bare Node',
        measured,
        verdictOn(ready <= 300, ready <= 2 * middle(BARE, 'readyMs')),
      ],
      ['21 idle memory', '≤ 110 MiB', '≤ 90 MiB', `${Math.round(idle)} MiB`, verdictOn(idle <= 110, idle <= 90)],
    ],
  );
  console.log([report, goals].join('\n\n'));
  writePart(
    'startup',
    [
      '## From exec to the first 200',
      `Measured ${new Date().toISOString().slice(0, 10)}: ${RUNS} starts each, in turn. RSS is measured ${IDLE_MS / 1_000} s after the first 200. ` +
        'The product is started by the command of `npm start`, without npm. The bundle exists, as after an install. ' +
        'Idle memory of the goal is that of a later start, `lensgate, again`.',
      machine().join('\n'),
      report,
      goals,
    ].join('\n\n'),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
