import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ConfigurationReport } from '../configuration-load.ts';
import type { FanoutOrder, FanoutReport } from '../fanout-load.ts';
import { LIST, ROWS } from '../graph-list.ts';
import type { LoadOrder } from '../load.ts';
import { CORES, freePort, pinned, type Program, run, start, untilReady } from '../measure.ts';
import { bodyOf, measured } from '../rounds.ts';
import { startProduct, type Target } from '../targets.ts';
import { traceTargets } from '../trace-targets.ts';

/** Scratch folder and environment of one product. The caller stops `programs`, also after a failure. */
interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programs: Program[];
}

/** Loads an open product for about `seconds`; resolves to its CPU in µs a unit. */
export type MeasureRound = (seconds: number) => Promise<number>;

export interface Workload {
  /** Unit of the CPU. */
  readonly unit: string;
  open(place: Place): Promise<MeasureRound>;
}

const script = (name: string): string => join(import.meta.dirname, '..', name);

/** Starts a fake upstream and a product that calls it. */
async function startOn({ folder, env, programs }: Place): ReturnType<typeof startProduct> {
  const launch: Parameters<typeof startProduct>[0] = (name, command, core, own = {}) => {
    const log = join(folder, `${name}.log`);
    const program = start(name, command, { core, log, env: { ...own, ...env } });
    programs.push(program);
    return program;
  };
  const port = await freePort();
  const upstream = `http://127.0.0.1:${port}`;
  launch('upstream', [process.execPath, script('upstream.ts'), String(port)], CORES.load);
  await untilReady(`${upstream}/calls`);
  return startProduct(launch, 'product', folder, upstream);
}

/** Measures one request that is repeated. `withDeferred` adds the CPU of deferred work after the load. */
function repeated(
  target: Target,
  { body, connections }: Pick<LoadOrder, 'body' | 'connections'>,
  { folder, withDeferred = false }: { readonly folder: string; readonly withDeferred?: boolean },
): MeasureRound {
  const { name, url, headers } = target;
  return async (seconds) => {
    // wrk takes whole seconds only.
    const order = { url, headers, body, connections, seconds: Math.ceil(seconds), expectedStatus: 200 };
    const { cpuUs, laterUs, requests, bad } = await measured(target, order, folder);
    if (bad > 0) throw new Error(`${bad} of ${requests} requests to ${name} failed.`);
    return withDeferred ? cpuUs + laterUs : cpuUs;
  };
}

/** Throws when the request is not answered with the expected number of list items. */
async function assertItems(
  { url, headers }: Target,
  body: string | null,
  { count, of }: { readonly count: number; of(answer: unknown): readonly unknown[] | undefined },
): Promise<void> {
  const answer = await fetch(url, { method: body === null ? 'GET' : 'POST', headers, body });
  const text = await answer.text();
  const items = answer.ok ? of(JSON.parse(text)) : undefined;
  if (items?.length !== count) throw new Error(`${url} answered ${answer.status}, not with ${count} items: ${text}`);
}

const CONNECTIONS = 16;

/** JSON calls of 16 clients. `withDeferred` counts the later unfolding of their records. */
export const calls = ({
  promptBytes = 400,
  withDeferred = false,
}: { readonly promptBytes?: number; readonly withDeferred?: boolean } = {}): Workload => ({
  unit: withDeferred ? 'call, with deferred work' : 'call',
  async open(place) {
    const body = bodyOf({ stream: false, promptBytes });
    const { folder } = place;
    return repeated(await startOn(place), { body, connections: CONNECTIONS }, { folder, withDeferred });
  },
});

const EXPORTS_PER_SECOND = 200;

/** Exports of 100 spans with new ids. A round sends 200 exports for each second of its length. */
export const spans = (): Workload => ({
  unit: 'span',
  async open(place) {
    const { origin, adminKey, program } = await startOn(place);
    const targets = traceTargets(place.folder);
    const target = {
      name: 'product',
      url: `${origin}/v1/traces`,
      headers: { authorization: `Bearer ${adminKey}` },
      format: 'protobuf' as const,
      program,
    };
    return async (seconds) => (await targets.round(target, Math.ceil(seconds * EXPORTS_PER_SECOND))).cpuUs;
  },
});

/** Updates a second. */
const RATE = 10;

/**
 * Updates of traces to subscribers with the same document. Each round subscribes again, and follows a round of the same
 * length that is not measured.
 */
export const updates = (readers: number): Workload => ({
  unit: 'delivered event',
  async open(place) {
    const { origin, adminKey, program } = await startOn(place);
    const order = { origin, adminKey, pid: program.pid, readers, rounds: 1, rate: RATE, stalls: false };
    return async (seconds) => {
      const output = await run(pinned(CORES.load, [process.execPath, script('fanout-load.ts')]), {
        FANOUT: JSON.stringify({ ...order, seconds } satisfies FanoutOrder),
      });
      const [round]: FanoutReport['all'] = (JSON.parse(output) as FanoutReport).all;
      if (round?.lost !== 0) throw new Error(`${round?.lost} events did not reach a reader.`);
      return round.cpuUs;
    };
  },
});

/** The list of catalog entries of `bench/graph.ts`, requested by 16 clients. */
export const graphList = (): Workload => ({
  unit: 'query',
  async open(place) {
    const { name, origin, headers, program } = await startOn(place);
    const target = { name, url: `${origin}/graphql`, headers, program };
    const body = JSON.stringify({ query: LIST });
    const of = (answer: unknown) =>
      (answer as { readonly data?: { readonly catalogEntries?: { readonly nodes?: readonly unknown[] } } }).data
        ?.catalogEntries?.nodes;
    await assertItems(target, body, { count: ROWS, of });
    return repeated(target, { body, connections: CONNECTIONS }, { folder: place.folder });
  },
});

const PAGE = 50;
/** Exports of ten traces each. */
const FILLING_EXPORTS = 20;

/** The first page of traces, of 200 that are stored before the load. */
export const tracePages = (): Workload => ({
  unit: 'page',
  async open(place) {
    const { name, origin, adminKey, program } = await startOn(place);
    const headers = { authorization: `Bearer ${adminKey}` };
    const url = `${origin}/v1/traces`;
    await traceTargets(place.folder).round({ name, url, headers, format: 'protobuf', program }, FILLING_EXPORTS);
    const target = { name, url: `${url}?start_ms=0&end_ms=${Date.now()}`, headers, program };
    const of = (answer: unknown) => (answer as { readonly data?: readonly unknown[] }).data;
    await assertItems(target, null, { count: PAGE, of });
    return repeated(target, { body: null, connections: 4 }, { folder: place.folder });
  },
});

/**
 * Loads a configuration file of `models` models in a process without a server. Each round has a new process, which
 * first loads the file for the same time without measuring.
 */
export const configurationLoads = (models: number): Workload => ({
  unit: 'load',
  open({ folder, env }) {
    const file = join(folder, 'config.yaml');
    const modelList = Array.from({ length: models }, (_none, index) => ({
      model_name: `model-${index}`,
      litellm_params: {
        model: `openai/upstream-${index}`,
        api_base: 'http://127.0.0.1:1/v1',
        api_key: `key-${index}`,
        timeout: 30,
      },
      model_info: { id: `id-${index}` },
    }));
    writeFileSync(file, stringify({ model_list: modelList }));
    const command = [process.execPath, script('configuration-load.ts'), file];
    return Promise.resolve(async (seconds) => {
      const output = await run(pinned(CORES.server, [...command, String(seconds), String(seconds)]), env);
      return (JSON.parse(output) as ConfigurationReport).cpuUs;
    });
  },
});

const GROWING_TRACES_PER_SECOND = 3;
/** Spans of one export of a growing trace. */
const PIECE_SPANS = 20;

/**
 * Traces that grow by many exports, in a process without a server (`bench/pieces.ts`). A round has three traces for
 * each second of its length.
 */
export const growingTraces = (exports: number): Workload => ({
  unit: 'span',
  open({ env }) {
    const isOff = env['LENSGATE_CALL_NOTES'] === 'off';
    return Promise.resolve(async (seconds) => {
      const sizes = [Math.ceil(seconds * GROWING_TRACES_PER_SECOND), exports, PIECE_SPANS].map(String);
      const command = [process.execPath, script('pieces.ts'), '.', ...sizes, ...(isOff ? ['off'] : [])];
      return (JSON.parse(await run(pinned(CORES.server, command), {})) as { readonly cpuUs: number }).cpuUs;
    });
  },
});
