import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { START_MS } from '../traces/trace-client.ts';
import {
  maySee,
  type Party,
  sendTrace,
  SHARED_TRACE,
  startOwnersFixture,
  type Things,
  type OwnersFixture,
} from './parties.ts';

let fixture: OwnersFixture;

beforeAll(async () => {
  fixture = await startOwnersFixture();
});

afterAll(() => fixture.stop());

/** Time window of the exports. It excludes the traces of gateway calls in this test, which start today. */
const [FROM, TO] = [START_MS - 1_000, START_MS + 3_600_000];
const WINDOW = `start_ms=${FROM}&end_ms=${TO}`;
const IN_WINDOW = `from: "${new Date(FROM).toISOString()}", to: "${new Date(TO).toISOString()}"`;
const FACTS = `name traceRef teamId keyHash inputPreview agentNames models key { alias } team { id } owners { teamId keyHash }
  spans { nodes { id name error inputPreview spendRow { id } } } agents { name } spendRows { id }`;
const SPAN = '1'.repeat(16);

/** Reads an object by its global id. */
const node = (address: string, fields: string): string =>
  `{ node(id: "${Buffer.from(address).toString('base64')}") { ${fields} } }`;

interface Read {
  readonly name: string;
  /** REST path or GraphQL query. */
  readonly of: (things: Things) => string;
}

/** Reads of one object. Without access, the answer is the same as for an unknown object. */
const ADDRESSED: readonly Read[] = [
  { name: 'files.get', of: ({ file }) => `/v1/files/${file}` },
  { name: 'files.content', of: ({ file }) => `/v1/files/${file}/content` },
  { name: 'batches.get', of: ({ batch }) => `/v1/batches/${batch}` },
  { name: 'responses.get', of: ({ response }) => `/v1/responses/${response}` },
  { name: 'responses.inputItems', of: ({ response }) => `/v1/responses/${response}/input_items` },
  { name: 'traces.get', of: ({ trace }) => `/v1/traces/${trace}` },
  { name: 'traces.get, a page', of: ({ trace }) => `/v1/traces/${trace}?page_size=1` },
  { name: 'traces.get by ref', of: ({ trace, traceRef }) => `/v1/traces/${trace}?trace_ref=${traceRef}` },
  { name: 'traces.get of a call', of: ({ callTraceId }) => `/v1/traces/${callTraceId}` },
  { name: 'traces.span', of: ({ trace }) => `/v1/traces/${trace}/spans/${SPAN}` },
  {
    name: 'traces.span by ref',
    of: ({ trace, traceRef }) => `/v1/traces/${trace}/spans/${SPAN}?trace_ref=${traceRef}`,
  },
  { name: 'traces.error', of: ({ trace }) => `/v1/traces/${trace}/spans/${SPAN}/error` },
  { name: 'trace', of: ({ trace }) => `{ trace(id: "${trace}") { ${FACTS} } }` },
  {
    name: 'trace by ref',
    of: ({ trace, traceRef }) => `{ trace(id: "${trace}", traceRef: "${traceRef}") { ${FACTS} } }`,
  },
  { name: 'trace of a call', of: ({ callTraceId }) => `{ trace(id: "${callTraceId}") { ${FACTS} } }` },
  { name: 'span', of: ({ trace }) => `{ span(traceId: "${trace}", spanId: "${SPAN}") { name input attributes } }` },
  { name: 'spans', of: ({ trace }) => `{ trace(id: "${trace}") { spans { nodes { name error inputPreview } } } }` },
  {
    name: 'node of a trace',
    of: ({ trace, traceRef }) => node(`Trace:${trace}:${traceRef}`, `... on Trace { ${FACTS} }`),
  },
  { name: 'node of all traces of an id', of: ({ trace }) => node(`Trace:${trace}`, `... on Trace { ${FACTS} }`) },
  {
    name: 'node of a span',
    of: ({ trace, traceRef }) =>
      node(`Span:${trace}:${SPAN}:${traceRef}`, '... on Span { name input attributes parent { name } }'),
  },
];

const filtered = (filter: string): string => `{ traces(${IN_WINDOW}, filter: ${filter}) { nodes { ${FACTS} } } }`;

/** Reads that list objects, or that read a trace id which several owners use. */
const LISTS: readonly Read[] = [
  { name: 'files.list', of: () => '/v1/files' },
  { name: 'batches.list', of: () => '/v1/batches' },
  { name: 'traces.list', of: () => `/v1/traces?${WINDOW}` },
  { name: 'traces.get of a shared id', of: () => `/v1/traces/${SHARED_TRACE}` },
  { name: 'traces.span of a shared id', of: () => `/v1/traces/${SHARED_TRACE}/spans/${SPAN}` },
  { name: 'trace of a shared id', of: () => `{ trace(id: "${SHARED_TRACE}") { ${FACTS} } }` },
  {
    name: 'span of a shared id',
    of: () => `{ span(traceId: "${SHARED_TRACE}", spanId: "${SPAN}") { name input attributes } }`,
  },
  { name: 'traces', of: () => `{ traces(${IN_WINDOW}) { nodes { ${FACTS} } } }` },
  {
    name: 'traces, ordered',
    of: () => `{ traces(${IN_WINDOW}, orderBy: { field: DURATION }) { nodes { ${FACTS} } } }`,
  },
  { name: 'traces of a key', of: ({ owner }) => filtered(`{ keyHash: "${owner.keyHash}" }`) },
  { name: 'traces of a team', of: ({ owner }) => filtered(`{ teamId: "${owner.teamId}" }`) },
  { name: 'traces of an agent', of: ({ mark }) => filtered(`{ agent: "${mark}" }`) },
  { name: 'traces with a text', of: ({ mark }) => filtered(`{ text: "${mark}" }`) },
  { name: 'agents', of: () => `{ agents(${IN_WINDOW}) { name } }` },
];

async function ask(reader: Party, read: string): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${reader.key}` };
  const { app } = fixture;
  const answer = read.startsWith('/')
    ? await app.call('GET', read, undefined, headers)
    : await app.call('POST', '/graphql', { query: read }, headers);
  return { status: answer.status, text: await answer.text() };
}

/** Whether an answer contains the mark of an owner, its key hash, or its file id, batch id, response id or trace ref. */
const containsDataOf = (text: string, { owner, mark, file, batch, response, traceRef }: Things): boolean =>
  [`"${mark}"`, `: ${mark}"`, owner.keyHash, file, batch, response, traceRef].some((secret) => text.includes(secret));

/** A copy of the objects with unknown ids. */
const withUnknownIds = (things: Things): Things => ({
  ...things,
  file: `file-${'0'.repeat(32)}`,
  batch: `batch_${'0'.repeat(32)}`,
  response: `resp_${'0'.repeat(32)}`,
  trace: '0'.repeat(31).concat('1'),
  callTraceId: '0'.repeat(31).concat('2'),
  traceRef: 'F'.repeat(64),
});

/** Masks the requested ids in an answer, because some answers repeat them. */
const maskIds = (text: string, { file, batch, response, trace, callTraceId }: Things): string =>
  [file, batch, response, trace, callTraceId].reduce((masked, id) => masked.replaceAll(id, '<id>'), text);

describe('reads across owners', () => {
  it('each object is found by callers with access, and not by others', async () => {
    const wrong: string[] = [];
    let reads = 0;
    for (const reader of fixture.parties)
      for (const { name, of } of ADDRESSED) {
        const unknown = new Map<string, { status: number; text: string }>();
        for (const things of fixture.things) {
          const { status, text } = await ask(reader, of(things));
          reads += 1;
          const isShown = maySee(reader, things.owner);
          const none = unknown.get(name) ?? (await ask(reader, of(withUnknownIds(things))));
          unknown.set(name, none);
          const isNone = status === none.status && maskIds(text, things) === maskIds(none.text, withUnknownIds(things));
          if (isShown ? isNone || status !== 200 : !isNone)
            wrong.push(`${name} of ${things.owner.name} by ${reader.name}: ${status} ${text.slice(0, 300)}`);
        }
      }
    expect(wrong).toEqual([]);
    expect(reads).toBe(fixture.parties.length * fixture.things.length * ADDRESSED.length);
    expect(reads).toBeGreaterThan(900);
  });

  it('lists, searches and merged traces contain objects only for callers with access', async () => {
    const wrong: string[] = [];
    let reads = 0;
    for (const reader of fixture.parties)
      for (const { name, of } of LISTS)
        for (const thing of fixture.things) {
          const { status, text } = await ask(reader, of(thing));
          reads += 1;
          const strangers = fixture.things.filter(
            (things) => !maySee(reader, things.owner) && containsDataOf(text, things),
          );
          if (strangers.length > 0)
            wrong.push(
              `${name} by ${reader.name} returns data of ${strangers.map(({ owner }) => owner.name).join(', ')}`,
            );
          // A merged trace keeps the earliest of the spans with one id. Here all start at the same time, so any owner's
          // span may be kept.
          const isWanted = maySee(reader, thing.owner) && !/^(traces\.)?span of/.test(name);
          if (isWanted && (status !== 200 || !containsDataOf(text, thing)))
            wrong.push(`${name} by ${reader.name}: no data of ${thing.owner.name}`);
        }
    expect(wrong).toEqual([]);
    expect(reads).toBe(fixture.parties.length * fixture.things.length * LISTS.length);
  });

  it('live feeds contain exactly the traces to which their callers have access', async () => {
    const { app, parties, things } = fixture;
    const query = 'subscription { traceUpdates { trace { name teamId keyHash } } }';
    const feeds = await Promise.all(
      parties.map(async (reader) => {
        const abort = new AbortController();
        const answer = await fetch(`${app.url}/graphql/stream`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${reader.key}`,
            'content-type': 'application/json',
            accept: 'text/event-stream',
          },
          body: JSON.stringify({ query }),
          signal: abort.signal,
        });
        expect(answer.status).toBe(200);
        return { reader, abort, body: answer.body?.getReader() };
      }),
    );
    // The first bytes of a feed arrive before it is subscribed. It is subscribed when it delivers a trace.
    const readUntil = async (body: (typeof feeds)[number]['body'], mark: string): Promise<string> => {
      let text = '';
      while (!text.includes(`"${mark}"`)) text += Buffer.from((await body?.read())?.value ?? []).toString();
      return text;
    };
    const traceIdOf = (nth: number): string => (nth + 1).toString(16).padStart(32, '8');
    const senderFor = (reader: Party): Party | undefined =>
      reader.seesAll ? parties.find(({ key }) => key === app.adminKey) : reader;
    for (const [nth, { reader, body }] of feeds.entries()) {
      const sender = senderFor(reader);
      if (sender === undefined) throw new Error('There is no administrator.');
      const open = `open ${nth}`;
      const reading = readUntil(body, open);
      let isOpen = false;
      void reading.then(() => (isOpen = true));
      await expect
        .poll(async () => {
          await sendTrace(app, sender, traceIdOf(nth), open);
          return isOpen;
        })
        .toBe(true);
    }
    for (const [nth, { owner, mark }] of things.entries())
      await sendTrace(app, owner, traceIdOf(100 + nth), `live ${mark}`);
    for (const [nth, { reader, body, abort }] of feeds.entries()) {
      const sender = senderFor(reader);
      if (sender === undefined) throw new Error('There is no administrator.');
      const reading = readUntil(body, `end ${nth}`);
      await sendTrace(app, sender, traceIdOf(200 + nth), `end ${nth}`);
      const text = await reading;
      const owners = things.filter(({ mark }) => text.includes(`"live ${mark}"`)).map(({ owner }) => owner.name);
      const expected = things.filter(({ owner }) => maySee(reader, owner)).map(({ owner }) => owner.name);
      expect([reader.name, owners]).toEqual([reader.name, expected]);
      abort.abort();
    }
  });

  it('information about a key is for the key itself and for administrators only', async () => {
    for (const reader of fixture.parties)
      for (const owner of fixture.parties.filter(({ key }) => key !== fixture.app.adminKey)) {
        const { status, text } = await ask(reader, `/key/info?key=${owner.keyHash}`);
        const isShown = reader.seesAll || reader.key === owner.key;
        expect([reader.name, owner.name, status === 200]).toEqual([reader.name, owner.name, isShown]);
        expect(text.includes(`mark of ${owner.name}"`)).toBe(isShown);
      }
  });
});
