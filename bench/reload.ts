import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type App, startApp } from '../src/app.ts';
import { keyGenerator } from '../src/runtime/identifiers.ts';
import { readSettings } from '../src/runtime/settings/settings.ts';
import { createLog } from '../src/runtime/telemetry/log.ts';

// Time of a reload, and of the slowest request during it: medians of all reloads.
//   node bench/reload.ts [--models 1000] [--rounds 5] [--dry]
// `--dry` makes one round with ten models to check the script.

const GOALS = { reloadMs: 100, requestMs: 20 };

const numberOf = (name: string, byDefault: number): number => {
  const at = process.argv.indexOf(name);
  return at === -1 ? byDefault : Number(process.argv[at + 1]);
};
const isDry = process.argv.includes('--dry');
const models = isDry ? 10 : numberOf('--models', 1_000);
const rounds = isDry ? 1 : numberOf('--rounds', 5);

const textOf = (round: number): string =>
  stringify({
    model_list: Array.from({ length: models }, (_none, index) => ({
      model_name: `model-${index}`,
      litellm_params: {
        model: `openai/upstream-${index}-${round}`,
        api_base: 'http://127.0.0.1:1/v1',
        api_key: `key-${index}`,
        timeout: 30,
      },
      model_info: { id: `id-${index}` },
    })),
    general_settings: { demo_model: true, config_watch_seconds: 0 },
  });

const folder = mkdtempSync(join(tmpdir(), 'lensgate-reload-'));
const file = join(folder, 'config.yaml');
writeFileSync(file, textOf(0));
const env = { LENSGATE_DATA_DIR: folder, LENSGATE_LOG_LEVEL: 'silent', LENSGATE_CATALOG_REFRESH_SECONDS: '0' };
const settings = readSettings(['--port', '0', '--host', '127.0.0.1', '--config', file], env, keyGenerator);
const headers = { authorization: `Bearer ${settings.masterKey.reveal()}`, 'content-type': 'application/json' };
const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] });

async function callMs(url: string): Promise<number> {
  const startMs = performance.now();
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`A request was answered ${answer.status}.`);
  return performance.now() - startMs;
}

/** Calls sequentially until `isDone`; returns the time of the slowest call in ms, 0 without a call. */
async function slowestUntil(url: string, isDone: () => boolean): Promise<number> {
  let slowest = 0;
  while (!isDone()) slowest = Math.max(slowest, await callMs(url));
  return slowest;
}

const WARM_UP = 200;

interface Measurement {
  readonly reloadMs: number;
  readonly requestMs: number;
}

async function measureRound(app: Pick<App, 'url' | 'reload'>, round: number): Promise<Measurement> {
  writeFileSync(file, textOf(round));
  let isDone = false;
  const slowest = slowestUntil(app.url, () => isDone);
  // Awaited below. Until then, a failed call is no unhandled rejection, which would end the process at once.
  slowest.catch(() => {});
  const startMs = performance.now();
  await app.reload().finally(() => {
    isDone = true;
  });
  const reloadMs = performance.now() - startMs;
  return { reloadMs, requestMs: await slowest };
}

async function measure(): Promise<readonly Measurement[]> {
  const app = await startApp(settings, createLog('silent'));
  try {
    let calls = 0;
    await slowestUntil(app.url, () => (calls += 1) > WARM_UP);
    const measured: Measurement[] = [];
    for (let round = 1; round <= rounds; round += 1) measured.push(await measureRound(app, round));
    return measured;
  } finally {
    await app.stop();
  }
}

const measurements = await measure().finally(() => rmSync(folder, { recursive: true, force: true }));

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const medians = {
  reloadMs: median(measurements.map(({ reloadMs }) => reloadMs)),
  requestMs: median(measurements.map(({ requestMs }) => requestMs)),
};
for (const name of ['reloadMs', 'requestMs'] as const)
  console.log(
    `${name}: ${medians[name].toFixed(1)} (goal ${GOALS[name]}, ${models} models, ${rounds} rounds): ${medians[name] <= GOALS[name] ? 'met' : 'missed'}`,
  );
