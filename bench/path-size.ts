// Counts the files and functions of this project that a warm request runs, on four paths, by V8's coverage.
//   node bench/path-size.ts [--list]    with `--list` the functions of each path by file
// A function counts if each of several requests runs it. This excludes periodic work. V8's functions for the fields of
// classes do not count. Each HTTP path has its own connection: a connection that only sends chats takes the fast path.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { text as streamText } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { startApp } from '../src/app.ts';
import { keyGenerator } from '../src/runtime/identifiers.ts';
import { readSettings } from '../src/runtime/settings/settings.ts';
import { createLog } from '../src/runtime/telemetry/log.ts';
import { table } from './report.ts';

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
const ROOT = join(import.meta.dirname, '..');
const WARMING_REQUESTS = 2;
const COUNTED_REQUESTS = 5;

const EVENTS = ['Hel', 'lo', ''].map((content, index) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: index === 2 ? 'stop' : null }],
  ...(index === 2 ? { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } } : {}),
}));
const upstream = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of EVENTS) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
});
await new Promise<void>((resolve) => {
  upstream.listen(0, '127.0.0.1', resolve);
});

const folder = mkdtempSync(join(tmpdir(), 'lensgate-path-size-'));
const file = join(folder, 'config.yaml');
const { port } = upstream.address() as AddressInfo;
writeFileSync(
  file,
  stringify({
    model_list: [
      {
        model_name: 'm',
        litellm_params: { model: 'openai/m', api_base: `http://127.0.0.1:${port}/v1`, api_key: 'sk-upstream' },
      },
    ],
  }),
);
const settings = readSettings(
  ['--port', '0', '--host', '127.0.0.1', '--config', file],
  { LENSGATE_DATA_DIR: folder, LENSGATE_LOG_LEVEL: 'silent', LENSGATE_CATALOG_REFRESH_SECONDS: '0' },
  keyGenerator,
);
const app = await startApp(settings, createLog(settings.logLevel));
const headers = { 'content-type': 'application/json', authorization: `Bearer ${settings.masterKey.reveal()}` };

/** Connections by HTTP path. */
const agents = new Map<string, Agent>();

async function send(path: string, body: object, key = settings.masterKey.reveal()): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(body));
  const agent = agents.get(path) ?? new Agent({ keepAlive: true, maxSockets: 1 });
  agents.set(path, agent);
  const request = httpRequest(`${app.url}${path}`, {
    method: 'POST',
    agent,
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-length': bytes.length },
  });
  request.end(bytes);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const text = await streamText(answer);
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
  return text;
}

const CHAT = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
const { key: virtualKey } = JSON.parse(await send('/key/generate', {})) as { readonly key: string };

const traceIdOf = (number: number): string => number.toString(16).padStart(32, '0');

/** An export of one trace: a root and a model call. */
function exportOf(number: number): object {
  const traceId = traceIdOf(number);
  const start = BigInt(Date.now()) * 1_000_000n;
  const span = (id: string, parentSpanId: string, attributes: Readonly<Record<string, object>>): object => ({
    traceId,
    spanId: id.repeat(16),
    parentSpanId,
    name: 'step',
    kind: 1,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 1_000_000n),
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })),
  });
  const spans = [
    span('a', '', {}),
    span('b', 'a'.repeat(16), {
      'gen_ai.operation.name': { stringValue: 'chat' },
      'gen_ai.request.model': { stringValue: 'gpt-4o' },
      'gen_ai.usage.input_tokens': { intValue: '3' },
      'gen_ai.usage.output_tokens': { intValue: '2' },
    }),
  ];
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

/** Opens a live feed of traces. Resolves to a function that waits for the event of a trace. */
async function openFeed(): Promise<(traceId: string) => Promise<void>> {
  const feed = await fetch(`${app.url}/graphql/stream`, {
    method: 'POST',
    headers: { ...headers, accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { traceUpdates { cursor trace { traceId name inputTokens } } }' }),
  });
  const reader = feed.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!feed.ok || reader === undefined) throw new Error(`The feed answered ${feed.status}.`);
  let received = '';
  return async (traceId) => {
    while (!received.includes(traceId)) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      const { value, done } = await reader.read();
      if (done) throw new Error(`The feed ended: ${received}`);
      received += value;
    }
    received = '';
  };
}

let exported = 0;
let nextEvent: ((traceId: string) => Promise<void>) | undefined;
const PATHS: Readonly<Record<string, () => Promise<unknown>>> = {
  'chat stream': () => send('/v1/chat/completions', CHAT),
  'chat stream with a virtual key': () => send('/v1/chat/completions', CHAT, virtualKey),
  'catalog query': () => send('/graphql', { query: '{ catalogEntries(first: 5) { nodes { entryId mode } } }' }),
  // Last, because its feed stays open.
  'trace ingest to subscriber': async () => {
    exported += 1;
    nextEvent ??= await openFeed();
    await send('/v1/traces', exportOf(exported));
    await nextEvent(traceIdOf(exported));
  },
};

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** V8's functions for the fields of a class. */
const FIELDS = /^<(instance|static)_members_initializer>$|^<static_initializer>$/;

/** Functions that ran since the last call, by file. */
async function takeCoverage(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = new Map<string, readonly string[]>();
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue;
    const path = relative(ROOT, fileURLToPath(url));
    if (!/^(src|schema|rest-shims|resolvers)\//.test(path)) continue;
    const names = functions
      .filter(({ functionName, ranges: [range] }) => (range?.count ?? 0) > 0 && !FIELDS.test(functionName))
      .map(({ functionName, ranges: [range] }) => functionName || `(at ${range?.startOffset})`);
    if (names.length > 0) files.set(path, names);
  }
  return files;
}

const functionsOf = (files: ReadonlyMap<string, readonly string[]>): number =>
  [...files.values()].reduce((sum, names) => sum + names.length, 0);

/** Functions that are in both, by file. */
const inBoth = (
  one: ReadonlyMap<string, readonly string[]>,
  other: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...one]
      .map(([path, names]) => [path, names.filter((name) => other.get(path)?.includes(name) === true)] as const)
      .filter(([, names]) => names.length > 0),
  );

const rows: string[][] = [];
for (const [name, run] of Object.entries(PATHS)) {
  let always: ReadonlyMap<string, readonly string[]> | undefined;
  for (let time = 0; time < WARMING_REQUESTS + COUNTED_REQUESTS; time += 1) {
    /* oxlint-disable no-await-in-loop -- one request after the other is counted */
    // Work that remains from earlier requests ends here, and its functions are dropped.
    await sleep(time < WARMING_REQUESTS ? 10 : 300);
    await takeCoverage();
    await run();
    // Work that the end of the answer starts, such as the record of the call, belongs to the request.
    await sleep(time < WARMING_REQUESTS ? 0 : 150);
    const files = await takeCoverage();
    /* oxlint-enable no-await-in-loop */
    if (time >= WARMING_REQUESTS) always = always === undefined ? files : inBoth(always, files);
  }
  if (always === undefined) continue;
  rows.push([name, `${always.size} / ${functionsOf(always)}`]);
  if (options.list) {
    console.log(`\n## ${name}\n`);
    for (const [path, names] of [...always].toSorted(([a], [b]) => a.localeCompare(b)))
      console.log(path, names.length, names.join(', '));
  }
}
console.log(table(['Path', 'Files / functions'], rows));

for (const agent of agents.values()) agent.destroy();
await app.stop(1_000);
upstream.close();
rmSync(folder, { recursive: true, force: true });
