import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePort, killAtExit, peakResident, productCommand, stop, untilReady } from '../measure.ts';
import { exportOf, type SyntheticRun } from './runs.ts';

type Json = Readonly<Record<string, unknown>>;

/** The product as a process, with an empty data folder. */
export interface BenchServer {
  readonly url: string;
  send<Body = Json>(method: string, path: string, body?: unknown, key?: string): Promise<Body>;
  /** Stores runs. Their start times are one second apart, the latest about an hour ago. */
  ingest(runs: readonly SyntheticRun[]): Promise<void>;
  /** Highest resident memory so far, in MB. */
  peakMb(): number;
  stop(): Promise<void>;
}

const KEY = 'sk-bench-lens';
const RUNS_PER_EXPORT = 100;
/** How often the benchmark requests a running lens, in ms. Each answer renders all executions of its run. */
const POLL_MS = 1_000;
const HOUR_MS = 3_600_000;

/** Starts the product with a list of models and a number of worker slots. */
export async function startServer(models: readonly object[], slots: number): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-lens-'));
  const config = join(folder, 'config.yaml');
  writeFileSync(config, stringify({ model_list: models, general_settings: { master_key: KEY } }));
  const port = await freePort();
  const [file = '', ...args] = productCommand(['--port', String(port), '--config', config]);
  const child = spawn(file, args, {
    env: {
      ...process.env,
      LENSGATE_DATA_DIR: folder,
      LENSGATE_LOG_LEVEL: 'error',
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
      LENSGATE_LENS_WORKER_SLOTS: String(slots),
      LENSGATE_LENS_POLL_SECONDS: '0.1',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  killAtExit(child);
  const stopAndRemove = (): Promise<void> =>
    stop(child).finally(() => rmSync(folder, { recursive: true, force: true }));
  try {
    await untilReady(`${url}/health/liveness`);
  } catch (error) {
    await stopAndRemove();
    throw error;
  }

  async function send<Body>(method: string, path: string, body?: unknown, key = KEY): Promise<Body> {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return JSON.parse(text) as Body;
  }

  return {
    url,
    send,
    async ingest(runs) {
      for (let at = 0; at < runs.length; at += RUNS_PER_EXPORT)
        await send(
          'POST',
          '/v1/traces',
          exportOf(runs.slice(at, at + RUNS_PER_EXPORT), Date.now() - HOUR_MS - at * 1_000),
        );
    },
    peakMb: () => peakResident(child.pid ?? 0) / 1_000_000,
    stop: stopAndRemove,
  };
}

/** Waits until the run of a lens has ended; resolves to the lens. */
export async function untilEnded<Lens extends { readonly jobs: readonly { readonly status: string }[] }>(
  server: BenchServer,
  id: string,
): Promise<Lens> {
  for (;;) {
    const lens = await server.send<Lens>('GET', `/lens/${id}`);
    const status = lens.jobs[0]?.status ?? '';
    if (status !== 'queued' && status !== 'running') return lens;
    await wait(POLL_MS);
  }
}
