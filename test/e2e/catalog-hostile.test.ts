import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CatalogSnapshot } from '../../src/domain/catalog/catalog.ts';
import { createCatalogSource, type RefreshingCatalog } from '../../src/runtime/catalog/source.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { startCatalogServer } from '../contract/catalog/catalog-server.ts';
import {
  type Answer,
  mapOf,
  startPriceMapUpstream,
  recordingLog,
  sendMap,
  type Upstream,
} from '../support/price-map-upstream.ts';
import { aScheduler } from '../support/scheduler.ts';

let upstream: Upstream;
let source: RefreshingCatalog;
let good: CatalogSnapshot;

/** Starts a source with a good map. */
async function open(timeoutMs: number): Promise<void> {
  const { log } = recordingLog();
  source = createCatalogSource({
    url: upstream.url,
    refreshSeconds: 60,
    scheduler: aScheduler(),
    clock: systemClock,
    log,
    timeoutMs,
  });
  await refreshGood();
  good = source.current();
}

/**
 * Refreshes from an upstream with a good map. Repeats the refresh after a failure, because a busy machine may exceed a
 * short timeout.
 */
async function refreshGood(): Promise<void> {
  await expect
    .poll(async () => {
      await source.refresh();
      return source.status().lastError;
    })
    .toBeNull();
}

beforeEach(async () => {
  upstream = await startPriceMapUpstream(sendMap(mapOf(3_000)));
  await open(60_000);
});
afterEach(() => {
  source.stop();
  upstream.close();
});

const sendsText =
  (text: string, type = 'text/plain'): Answer =>
  (response) =>
    void response.writeHead(200, { 'content-type': type }).end(text);
const withModel = (row: string): string => `${JSON.stringify(mapOf(3_000)).slice(0, -1)},"bad":${row}}`;
/** Repeats this text until the connection closes. */
const sendsEndlessly =
  (piece: string): Answer =>
  (response) => {
    const send = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', send).on('error', () => {});
    send();
  };

describe('the last good data stays when the upstream', () => {
  it.each<[string, Answer, string | RegExp]>([
    ['sends an HTML page', sendsText('<html>Log in</html>', 'text/html'), /^the price map is not valid JSON/],
    ['sends text that is not UTF-8', (response) => void response.end(Buffer.of(0x7b, 0xff, 0x7d)), /is not valid JSON/],
    ['writes NaN', sendsText(withModel('{"input_cost_per_token":NaN}')), /^the price map is not valid JSON/],
    [
      'writes NaN as text',
      sendsText(withModel('{"input_cost_per_token":"NaN"}')),
      "entry 'bad': input_cost_per_token is not of type price",
    ],
    [
      'writes a price larger than any number',
      sendsText(withModel('{"output_cost_per_token":1e999}')),
      "entry 'bad': output_cost_per_token is not of type price",
    ],
    [
      'writes a list for a price',
      sendsText(withModel('{"input_cost_per_token":[1]}')),
      "entry 'bad': input_cost_per_token is not of type price",
    ],
    [
      'writes a limit with a fraction',
      sendsText(withModel('{"max_tokens":"1.5"}')),
      "entry 'bad': max_tokens is not of type integer",
    ],
    [
      'nests 5,000 levels deep',
      sendsText(withModel(`{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)),
      "entry 'bad': nested more than 16 levels deep",
    ],
    ['nests 4,000,000 levels deep', sendsText('['.repeat(4_000_000)), /price map/],
    [
      'sends 50,001 models',
      sendsText(`{${Array.from({ length: 50_001 }, (_, index) => `"${index}x":{}`).join()}}`),
      'the price map has 50001 models, more than 50000',
    ],
    ['sends an endless body', sendsEndlessly('x'.repeat(65_536)), 'the price map is larger than 16777216 bytes'],
    [
      'sends a gzip bomb',
      (response) =>
        void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024))),
      'the price map is larger than 16777216 bytes',
    ],
    [
      'sends a body that is not gzip',
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain'),
      /^the source cannot be read: /,
    ],
    [
      'sends less than its content-length',
      (response) => {
        response.writeHead(200, { 'content-length': 100_000 }).write('{"a":', () => response.destroy());
      },
      /^the source cannot be read: /,
    ],
    [
      'stalls after the first byte',
      (response) => void response.writeHead(200).write('{'),
      'the source cannot be read: TimeoutError',
    ],
    ['sends no answer', () => {}, 'the source cannot be read: TimeoutError'],
    ['speaks no HTTP', (response) => void response.socket?.end('SSH-2.0-OpenSSH\r\n'), /^the source cannot be read: /],
    [
      'redirects in a circle',
      (response) => void response.writeHead(302, { location: '/map.json' }).end(),
      'the source cannot be read: too many redirects',
    ],
    [
      'redirects to a file',
      (response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      /^the source cannot be read: /,
    ],
    [
      'answers 304 without an earlier ETag',
      (response) => void response.writeHead(304).end(),
      'the source answered 304',
    ],
    ['answers 403', (response) => void response.writeHead(403).end(), 'the source answered 403'],
    [
      'answers 503',
      (response) => void response.writeHead(503, { 'retry-after': 'soon' }).end(),
      'the source answered 503',
    ],
    ['answers 206', (response) => void response.writeHead(206).end('{}'), 'the source answered 206'],
  ])('%s', async (_what, answer, reason) => {
    // A source with a short timeout replaces the first one, so that the test does not wait for a minute.
    if (String(reason).endsWith('TimeoutError')) {
      source.stop();
      await open(1_000);
    }
    upstream.setAnswer(answer);
    await source.refresh();
    const { lastError } = source.status();
    // Only the first good map was taken.
    expect([source.current() === good, source.status().checks.taken]).toEqual([true, 1]);
    expect(lastError).toMatch(reason);
    upstream.setAnswer(sendMap(mapOf(3_000, 2)));
    await refreshGood();
    expect([source.current() === good, source.status().lastError]).toEqual([false, null]);
  });
});

describe('a map is accepted', () => {
  it.each(['image/png', 'application/octet-stream', ''])('with any content type: "%s"', async (type) => {
    upstream.setAnswer(sendsText(JSON.stringify(mapOf(3_000, 2)), type));
    await source.refresh();
    expect(source.current().find('m0')?.row['version']).toBe(2);
  });
  it('from the target of a redirect', async () => {
    const moved = sendMap(mapOf(3_000, 2));
    upstream.setAnswer((response, headers, request) => {
      if (request.url === '/map.json') response.writeHead(301, { location: '/moved' }).end();
      else moved(response, headers, request);
    });
    await source.refresh();
    expect(source.current().find('m0')?.row['version']).toBe(2);
  });
  it('with numbers and booleans written as text, which are served typed', async () => {
    const row = { max_tokens: '8192', input_cost_per_token: '1e-6', supports_vision: 'yes' };
    upstream.setAnswer(sendMap({ ...mapOf(3_000), texts: row }));
    await source.refresh();
    const server = await startCatalogServer(source);
    const entry = (await (await fetch(`${server.url}/model_catalog/texts`)).json()) as Record<string, unknown>;
    await server.close();
    expect([entry['max_tokens'], entry['input_cost_per_token'], entry['supports_vision']]).toEqual([8192, 1e-6, true]);
  });
  it('without its negative prices, of any kind', async () => {
    const row = { mode: 'chat', input_cost_per_token: -1, output_cost_per_image: '-0.01' };
    upstream.setAnswer(sendMap({ ...mapOf(3_000), owed: row }));
    await source.refresh();
    expect([source.current().find('owed')?.row, source.quarantined().map(({ reason }) => reason)]).toEqual([
      { mode: 'chat' },
      ['negative', 'negative'],
    ]);
  });
  it('with ids that would break a plain object', async () => {
    const odd = '"__proto__":{"mode":"chat"},"constructor":{"mode":"chat"},"":{"mode":"chat"}';
    upstream.setAnswer(sendsText(`${JSON.stringify(mapOf(3_000)).slice(0, -1)},${odd}}`));
    await source.refresh();
    const found = ['__proto__', 'constructor', '', 'toString'].map((id) => source.current().find(id)?.mode ?? null);
    expect(found).toEqual(['chat', 'chat', 'chat', null]);
  });
});
