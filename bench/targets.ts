import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { CORES, freePort, hasCommand, productCommand, type Program, start, untilReady } from './measure.ts';
import { NO_ACCOUNTING, PORTKEY_AS_SHIPPED } from './gateway-goals.ts';
import { nginxCommand } from './nginx.ts';
import { installPortkey, installShippedNode, type PortkeyCommand, portkeyHeaders } from './portkey.ts';

/** A server to load, with the address and headers of its requests. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly program: Program;
  /** Resolves when deferred work is done; absent for targets without any. */
  readonly settled?: () => Promise<void>;
}

/** The upstream, the targets, and the address of the product. */
export interface Stage {
  readonly upstreamOrigin: string;
  readonly targets: readonly Target[];
  readonly product: Target & { readonly origin: string; readonly adminKey: string };
  readonly koaHello: Target;
  /** Null unless `full`. */
  readonly nodeHttp: Target | null;
  /**
   * Portkey on the Node version of its own image. The target `portkey` uses the Node of the benchmark. Null unless
   * `full` is set and both Portkey and that Node version can be installed.
   */
  readonly portkeyAsShipped: Target | null;
  /** Null unless `full`. */
  readonly withoutAccounting: Target | null;
  stop(): Promise<void>;
}

const script = (name: string): string => join(import.meta.dirname, name);
const json = { 'content-type': 'application/json' };
const bearer = (key: string) => ({ ...json, authorization: `Bearer ${key}` });

/**
 * Starts the fake upstream, the product and its peers; resolves when all are ready. With `full` also Portkey where
 * available, a Node proxy over node:http, and the product without accounting.
 */
export async function startStage(folder: string, { full = false } = {}): Promise<Stage> {
  const started: Program[] = [];
  const launch = (name: string, command: readonly string[], core: string | null, env = {}): Program => {
    const program = start(name, command, { core, log: join(folder, `${name}.log`), env });
    started.push(program);
    return program;
  };
  const stopAll = async (): Promise<void> => {
    for (const program of started.toReversed()) await program.stop();
  };
  try {
    const upstreamPort = await freePort();
    const upstreamOrigin = `http://127.0.0.1:${upstreamPort}`;
    launch('upstream', [process.execPath, script('upstream.ts'), String(upstreamPort)], CORES.load);
    await untilReady(`${upstreamOrigin}/calls`);

    const key = `sk-${randomBytes(12).toString('hex')}`;
    const targets: Target[] = [];
    if (hasCommand('nginx')) {
      const port = await freePort();
      const program = launch('nginx', nginxCommand(folder, { port, upstreamPort, key }), CORES.server);
      await untilReady(`http://127.0.0.1:${port}/ready`);
      targets.push({
        name: 'nginx',
        url: `http://127.0.0.1:${port}/v1/chat/completions`,
        headers: bearer(key),
        program,
      });
    }
    const completions = (target: Omit<Target, 'headers'>): Target => ({
      ...target,
      url: `${target.url}/v1/chat/completions`,
      headers: bearer(key),
    });
    const bare = await startNode(launch, 'node-undici', 'bare-proxy.ts', [upstreamOrigin, key]);
    targets.push(completions(bare));
    const portkey = full ? await installPortkey(folder) : null;
    const shippedNode = portkey === null ? null : await installShippedNode(folder);
    const starting = { launch, upstreamOrigin };
    if (portkey !== null) targets.push(await startPortkey('portkey', starting, portkey));
    const portkeyAsShipped =
      portkey === null || shippedNode === null
        ? null
        : await startPortkey(PORTKEY_AS_SHIPPED, starting, (port) => portkey(port, shippedNode));
    const product = await startProduct(launch, 'lensgate', folder, upstreamOrigin);
    targets.push(product);
    const nodeHttp = full
      ? completions(await startNode(launch, 'node-http', 'bare-proxy.ts', [upstreamOrigin, key, 'http']))
      : null;
    const withoutAccounting = full
      ? await startProduct(launch, NO_ACCOUNTING, folder, upstreamOrigin, { preload: script('no-accounting.ts') })
      : null;
    const koaHello = { ...(await startNode(launch, 'koa-hello', 'koa-hello.ts', [])), headers: json };
    return { upstreamOrigin, targets, product, koaHello, nodeHttp, portkeyAsShipped, withoutAccounting, stop: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

type Launch = (
  name: string,
  command: readonly string[],
  core: string | null,
  env?: Readonly<Record<string, string>>,
) => Program;

async function startNode(launch: Launch, name: string, file: string, args: readonly string[]) {
  const port = await freePort();
  const program = launch(name, [process.execPath, script(file), String(port), ...args], CORES.server);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url);
  return { name, url, program };
}

async function startPortkey(
  name: string,
  { launch, upstreamOrigin }: { readonly launch: Launch; readonly upstreamOrigin: string },
  command: PortkeyCommand,
): Promise<Target> {
  const port = await freePort();
  const program = launch(name, command(port), CORES.server, { NODE_ENV: 'production' });
  const origin = `http://127.0.0.1:${port}`;
  await untilReady(origin);
  const headers = { ...bearer('sk-upstream'), ...portkeyHeaders(upstreamOrigin) };
  return { name, url: `${origin}/v1/chat/completions`, headers, program };
}

/**
 * Starts the product with one model of the fake upstream, and creates a key with a budget. `from` names another
 * checkout, or a module to preload. Without a preload, every call has a key and budget check, a spend row and a trace
 * span.
 */
export async function startProduct(
  launch: Launch,
  name: string,
  folder: string,
  upstreamOrigin: string,
  from: Parameters<typeof productCommand>[1] = {},
): Promise<Stage['product']> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const adminKey = `sk-${randomBytes(24).toString('base64url')}`;
  const config = join(folder, 'config.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [
        {
          model_name: 'bench-model',
          litellm_params: { model: 'openai/bench-model', api_base: `${upstreamOrigin}/v1`, api_key: 'sk-upstream' },
        },
      ],
    }),
  );
  const args = ['--config', config, '--port', String(port), '--host', '127.0.0.1'];
  const program = launch(name, productCommand(args, from), CORES.server, {
    LENSGATE_DATA_DIR: join(folder, name),
    LITELLM_MASTER_KEY: adminKey,
    LENSGATE_CATALOG_REFRESH_SECONDS: '0',
  });
  await untilReady(`${origin}/health/readiness`);
  const answer = await fetch(`${origin}/key/generate`, {
    method: 'POST',
    headers: bearer(adminKey),
    body: '{"max_budget":1000000}',
  });
  const { key }: { readonly key?: string } = JSON.parse(await answer.text());
  if (key === undefined) throw new Error(`/key/generate answered ${answer.status} without a key.`);
  const url = `${origin}/v1/chat/completions`;
  return { name, url, headers: bearer(key), program, origin, adminKey, settled: () => unfolded(origin) };
}

/** Timeout and polling interval for unfolding calls, in ms. */
const UNFOLDING_MS = 60_000;
const ASK_EVERY_MS = 500;

/** Resolves when every call is unfolded (ADR 0035), so that this work does not run while another target is loaded. */
async function unfolded(origin: string): Promise<void> {
  for (const end = Date.now() + UNFOLDING_MS; Date.now() < end; await after(ASK_EVERY_MS)) {
    const text = await (await fetch(`${origin}/metrics`)).text();
    if (/^lensgate_calls_to_unfold 0$/m.test(text) && /^lensgate_calls_waiting 0$/m.test(text)) return;
  }
  throw new Error('The product did not unfold its calls in time.');
}
