// How long the product takes from exec to its first 200 on /health/readiness, and what it weighs when idle.
//   npm run bench:startup -- [--runs 7]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { consumption, CORES, freePort, machine, median, start, untilReady } from './measure.ts';
import { table, writePart } from './report.ts';

const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '7' } } });
const RUNS = Number(options.runs);
const IDLE_MS = 2_000;

interface Start {
  readonly readyMs: number;
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
    await after(IDLE_MS);
    return { readyMs, rssMiB: consumption(program.pid).rss / 2 ** 20 };
  } finally {
    await program.stop();
  }
}

const main = join(import.meta.dirname, '../src/main.ts');
const hello = join(import.meta.dirname, 'node-hello.ts');
const folder = mkdtempSync(join(tmpdir(), 'lensgate-startup-'));
try {
  const taken = {
    'node-hello': [] as Start[],
    'lensgate, empty data folder': [] as Start[],
    'lensgate, again': [] as Start[],
  };
  for (let run = 0; run < RUNS; run += 1) {
    const env = {
      LENSGATE_DATA_DIR: join(folder, `data-${run}`),
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
    };
    const product = (port: number) => [process.execPath, main, '--port', String(port), '--host', '127.0.0.1'];
    taken['node-hello'].push(await once('hello', '/', (port) => [process.execPath, hello, String(port)], folder, {}));
    taken['lensgate, empty data folder'].push(await once('lensgate', '/health/readiness', product, folder, env));
    taken['lensgate, again'].push(await once('lensgate', '/health/readiness', product, folder, env));
  }
  const rows = Object.entries(taken).map(([name, starts]) => [
    name,
    Math.round(median(starts.map(({ readyMs }) => readyMs))),
    Math.round(Math.min(...starts.map(({ readyMs }) => readyMs))),
    Math.round(median(starts.map(({ rssMiB }) => rssMiB))),
  ]);
  const report = table(['Program', 'ready ms, median', 'ready ms, best', 'idle RSS MiB'], rows);
  console.log(report);
  writePart(
    'startup',
    [
      '## From exec to the first 200',
      `Measured ${new Date().toISOString().slice(0, 10)}: ${RUNS} starts each, in turn; RSS ${IDLE_MS / 1_000} s after the first 200. ` +
        'The product is started as `node src/main.ts`, its TypeScript stripped as it loads.',
      machine().join('\n'),
      report,
      'Goal 20: must ≤ 300 ms, reach ≤ 2 × bare Node. Goal 21: idle must ≤ 110 MiB, reach ≤ 90 MiB.',
    ].join('\n\n'),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
