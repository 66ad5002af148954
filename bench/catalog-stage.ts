import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { loadEmbeddedMap } from '../src/runtime/catalog/snapshot.ts';
import { CORES, freePort, productCommand, type Program, start, untilReady } from './measure.ts';

/** A server, and the address that is requested from it. */
export interface Side {
  readonly url: string;
  readonly program: Program;
}

/** A request to the product, and the same one to Koa with a prepared answer. */
export interface Question {
  readonly title: string;
  readonly koa: Side;
  readonly product: Side;
}

export interface CatalogStage {
  readonly questions: readonly Question[];
  /** A second process of the product, which follows a replaceable price map. Its address is that of one entry. */
  readonly followed: Side;
  startSwapping(): void;
  stopSwapping(): void;
  /** Number of maps that the second process has loaded. */
  swaps(): Promise<number>;
  stop(): Promise<void>;
}

const QUESTIONS = [
  { title: 'list, page of 50, two filters', path: '/model_catalog?provider=openai&mode=chat' },
  { title: 'one entry', path: '/model_catalog/gpt-4o' },
] as const;

const script = (name: string): string => join(import.meta.dirname, name);
const DAILY_LIMIT = '1000000000';

/** Two maps of the size of the real one. Every row differs between them. */
function twoMaps(): readonly Buffer[] {
  const { models } = loadEmbeddedMap();
  return [1, 2].map((version) =>
    Buffer.from(JSON.stringify(Object.fromEntries(models.map(([id, row]) => [id, { ...row, version }])))),
  );
}

/**
 * A server of the price map. While swapping, it answers each request with the next map. Otherwise it answers
 * conditional requests with 304.
 */
async function startPriceMapUpstream() {
  const maps = twoMaps();
  let swapping = false;
  let version = 0;
  const server = createServer((request, response) => {
    if (swapping || request.headers['if-none-match'] === undefined) version += 1;
    else return void response.writeHead(304).end();
    response.writeHead(200, { etag: `"${version}"` }).end(maps[version % 2]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/map.json`,
    swap(on: boolean) {
      swapping = on;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Starts the product twice, once following a map, and Koa once per question. */
export async function openCatalogStage(folder: string): Promise<CatalogStage> {
  const upstream = await startPriceMapUpstream();
  const started: Program[] = [];
  const stopAll = async (): Promise<void> => {
    for (const program of started.toReversed()) await program.stop();
    upstream.close();
  };

  async function launch(
    name: string,
    commandOn: (port: string) => readonly string[],
    {
      core = CORES.server,
      env = {},
    }: { readonly core?: string | null; readonly env?: Readonly<Record<string, string>> },
  ) {
    const port = await freePort();
    const log = join(folder, `${name}.log`);
    const program = start(name, commandOn(String(port)), { core, log, env });
    started.push(program);
    return { origin: `http://127.0.0.1:${port}`, program };
  }
  async function launchProduct(name: string, more: Readonly<Record<string, string>>, core = CORES.server) {
    const product = await launch(name, (port) => productCommand(['--port', port, '--host', '127.0.0.1']), {
      core,
      env: { LENSGATE_DATA_DIR: join(folder, name), LENSGATE_CATALOG_DAILY_LIMIT: DAILY_LIMIT, ...more },
    });
    await untilReady(`${product.origin}/health/readiness`);
    return product;
  }

  try {
    const product = await launchProduct('lensgate', { LENSGATE_CATALOG_REFRESH_SECONDS: '0' });
    // Not pinned to one core: a worker thread reads the map.
    const follower = await launchProduct(
      'lensgate-following',
      { LENSGATE_CATALOG_REFRESH_SECONDS: '1', LITELLM_MODEL_COST_MAP_URL: upstream.url },
      null,
    );
    const questions: Question[] = [];
    for (const [at, { title, path }] of QUESTIONS.entries()) {
      const bytes = join(folder, `answer-${at}`);
      writeFileSync(bytes, Buffer.from(await (await fetch(`${product.origin}${path}`)).arrayBuffer()));
      const koa = await launch(`koa-${at}`, (port) => [process.execPath, script('koa-bytes.ts'), port, bytes], {});
      await untilReady(koa.origin);
      questions.push({
        title,
        koa: { url: `${koa.origin}${path}`, program: koa.program },
        product: { url: `${product.origin}${path}`, program: product.program },
      });
    }
    return {
      questions,
      followed: { url: `${follower.origin}${QUESTIONS[1].path}`, program: follower.program },
      startSwapping: () => upstream.swap(true),
      stopSwapping: () => upstream.swap(false),
      async swaps() {
        const text = await (await fetch(`${follower.origin}/metrics`)).text();
        return Number(/^lensgate_catalog_refreshes_total\{outcome="taken"\} (\d+)/m.exec(text)?.[1] ?? 0);
      },
      stop: stopAll,
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}
