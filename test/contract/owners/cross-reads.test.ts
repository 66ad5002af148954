import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { START_MS } from '../traces/trace-client.ts';
import {
  maySee,
  type Party,
  sendTrace,
  SHARED_TRACE,
  startOwnersFixture,
  type OwnedObjects,
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
const TRACE_FIELDS = `name traceRef teamId keyHash inputPreview agentNames models key { alias } team { id } owners { teamId keyHash }
  spans { nodes { id name error inputPreview spendRow { id } } } agents { name } spendRows { id }`;
const SPAN = '1'.repeat(16);

/** Reads an object by its global id. */
const node = (address: string, fields: string): string =>
  `{ node(id: "${Buffer.from(address).toString('base64')}") { ${fields} } }`;

interface Read {
  readonly name: string;
  /** REST path or GraphQL query. */
  readonly request: (objects: OwnedObjects) => string;
}

/** Reads of one object. Without access, the answer is the same as for an unknown object. */
const READS_OF_ONE_OBJECT: readonly Read[] = [
  { name: 'files.get', request: ({ file }) => `/v1/files/${file}` },
  { name: 'files.content', request: ({ file }) => `/v1/files/${file}/content` },
  { name: 'batches.get', request: ({ batch }) => `/v1/batches/${batch}` },
  { name: 'responses.get', request: ({ response }) => `/v1/responses/${response}` },
  { name: 'responses.inputItems', request: ({ response }) => `/v1/responses/${response}/input_items` },
  { name: 'traces.get', request: ({ trace }) => `/v1/traces/${trace}` },
  { name: 'traces.get, a page', request: ({ trace }) => `/v1/traces/${trace}?page_size=1` },
  { name: 'traces.get by ref', request: ({ trace, traceRef }) => `/v1/traces/${trace}?trace_ref=${traceRef}` },
  { name: 'traces.get of a call', request: ({ callTraceId }) => `/v1/traces/${callTraceId}` },
  { name: 'traces.span', request: ({ trace }) => `/v1/traces/${trace}/spans/${SPAN}` },
  {
    name: 'traces.span by ref',
    request: ({ trace, traceRef }) => `/v1/traces/${trace}/spans/${SPAN}?trace_ref=${traceRef}`,
  },
  { name: 'traces.error', request: ({ trace }) => `/v1/traces/${trace}/spans/${SPAN}/error` },
  { name: 'trace', request: ({ trace }) => `{ trace(id: "${trace}") { ${TRACE_FIELDS} } }` },
  {
    name: 'trace by ref',
    request: ({ trace, traceRef }) => `{ trace(id: "${trace}", traceRef: "${traceRef}") { ${TRACE_FIELDS} } }`,
  },
  { name: 'trace of a call', request: ({ callTraceId }) => `{ trace(id: "${callTraceId}") { ${TRACE_FIELDS} } }` },
  {
    name: 'span',
    request: ({ trace }) => `{ span(traceId: "${trace}", spanId: "${SPAN}") { name input attributes } }`,
  },
  {
    name: 'spans',
    request: ({ trace }) => `{ trace(id: "${trace}") { spans { nodes { name error inputPreview } } } }`,
  },
  {
    name: 'node of a trace',
    request: ({ trace, traceRef }) => node(`Trace:${trace}:${traceRef}`, `... on Trace { ${TRACE_FIELDS} }`),
  },
  {
    name: 'node of all traces of an id',
    request: ({ trace }) => node(`Trace:${trace}`, `... on Trace { ${TRACE_FIELDS} }`),
  },
  {
    name: 'node of a span',
    request: ({ trace, traceRef }) =>
      node(`Span:${trace}:${SPAN}:${traceRef}`, '... on Span { name input attributes parent { name } }'),
  },
];

const filtered = (filter: string): string =>
  `{ traces(${IN_WINDOW}, filter: ${filter}) { nodes { ${TRACE_FIELDS} } } }`;

/** Reads that list objects, or that read a trace id which several owners use. */
const READS_OF_SEVERAL_OBJECTS: readonly Read[] = [
  { name: 'files.list', request: () => '/v1/files' },
  { name: 'batches.list', request: () => '/v1/batches' },
  { name: 'traces.list', request: () => `/v1/traces?${WINDOW}` },
  { name: 'traces.get of a shared id', request: () => `/v1/traces/${SHARED_TRACE}` },
  { name: 'traces.span of a shared id', request: () => `/v1/traces/${SHARED_TRACE}/spans/${SPAN}` },
  { name: 'trace of a shared id', request: () => `{ trace(id: "${SHARED_TRACE}") { ${TRACE_FIELDS} } }` },
  {
    name: 'span of a shared id',
    request: () => `{ span(traceId: "${SHARED_TRACE}", spanId: "${SPAN}") { name input attributes } }`,
  },
  { name: 'traces', request: () => `{ traces(${IN_WINDOW}) { nodes { ${TRACE_FIELDS} } } }` },
  {
    name: 'traces, ordered',
    request: () => `{ traces(${IN_WINDOW}, orderBy: { field: DURATION }) { nodes { ${TRACE_FIELDS} } } }`,
  },
  { name: 'traces of a key', request: ({ owner }) => filtered(`{ keyHash: "${owner.keyHash}" }`) },
  { name: 'traces of a team', request: ({ owner }) => filtered(`{ teamId: "${owner.teamId}" }`) },
  { name: 'traces of an agent', request: ({ mark }) => filtered(`{ agent: "${mark}" }`) },
  { name: 'traces with a text', request: ({ mark }) => filtered(`{ text: "${mark}" }`) },
  { name: 'agents', request: () => `{ agents(${IN_WINDOW}) { name } }` },
];

async function ask(reader: Party, read: string): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${reader.key}` };
  const { app } = fixture;
  const answer = read.startsWith('/')
    ? await app.call('GET', read, undefined, headers)
    : await app.call('POST', '/graphql', { query: read }, headers);
  return { status: answer.status, text: await answer.text() };
}

/**
 * Whether an answer contains data of an owner: its mark, key hash, file id, batch id, response id or trace ref. The
 * mark is a text in all objects of the owner except the file.
 */
const containsDataOf = (text: string, { owner, mark, file, batch, response, traceRef }: OwnedObjects): boolean =>
  [`"${mark}"`, `: ${mark}"`, owner.keyHash, file, batch, response, traceRef].some((secret) => text.includes(secret));

/** A copy of the objects with unknown ids. */
const withUnknownIds = (objects: OwnedObjects): OwnedObjects => ({
  ...objects,
  file: `file-${'0'.repeat(32)}`,
  batch: `batch_${'0'.repeat(32)}`,
  response: `resp_${'0'.repeat(32)}`,
  trace: '0'.repeat(31).concat('1'),
  callTraceId: '0'.repeat(31).concat('2'),
  traceRef: 'F'.repeat(64),
});

/** Masks the requested ids in an answer, because some answers repeat them. */
const maskIds = (text: string, { file, batch, response, trace, callTraceId }: OwnedObjects): string =>
  [file, batch, response, trace, callTraceId].reduce((masked, id) => masked.replaceAll(id, '<id>'), text);

describe('reads across owners', () => {
  it('each object is found by callers with access, and not by others', async () => {
    const wrong: string[] = [];
    let reads = 0;
    for (const reader of fixture.parties)
      for (const { name, request } of READS_OF_ONE_OBJECT) {
        const unknownAnswers = new Map<string, { status: number; text: string }>();
        for (const objects of fixture.objects) {
          const { status, text } = await ask(reader, request(objects));
          reads += 1;
          const hasAccess = maySee(reader, objects.owner);
          const unknownAnswer = unknownAnswers.get(name) ?? (await ask(reader, request(withUnknownIds(objects))));
          unknownAnswers.set(name, unknownAnswer);
          const looksUnknown =
            status === unknownAnswer.status &&
            maskIds(text, objects) === maskIds(unknownAnswer.text, withUnknownIds(objects));
          const isRight = hasAccess ? status === 200 && !looksUnknown : looksUnknown;
          if (!isRight)
            wrong.push(`${name} of ${objects.owner.name} by ${reader.name}: ${status} ${text.slice(0, 300)}`);
        }
      }
    expect(wrong).toEqual([]);
    expect(reads).toBe(fixture.parties.length * fixture.objects.length * READS_OF_ONE_OBJECT.length);
    expect(reads).toBeGreaterThan(900);
  });

  it('lists, searches and merged traces contain objects only for callers with access', async () => {
    const wrong: string[] = [];
    let reads = 0;
    for (const reader of fixture.parties)
      for (const { name, request } of READS_OF_SEVERAL_OBJECTS)
        for (const ownerObjects of fixture.objects) {
          const { status, text } = await ask(reader, request(ownerObjects));
          reads += 1;
          const foreignObjects = fixture.objects.filter(
            (objects) => !maySee(reader, objects.owner) && containsDataOf(text, objects),
          );
          if (foreignObjects.length > 0)
            wrong.push(
              `${name} by ${reader.name} returns data of ${foreignObjects.map(({ owner }) => owner.name).join(', ')}`,
            );
          // A merged trace keeps the earliest of the spans with one id. Here all start at the same time, so any owner's
          // span may be kept.
          const isExpected = maySee(reader, ownerObjects.owner) && !/^(traces\.)?span of/.test(name);
          if (isExpected && (status !== 200 || !containsDataOf(text, ownerObjects)))
            wrong.push(`${name} by ${reader.name}: no data of ${ownerObjects.owner.name}`);
        }
    expect(wrong).toEqual([]);
    expect(reads).toBe(fixture.parties.length * fixture.objects.length * READS_OF_SEVERAL_OBJECTS.length);
  });

  it('live feeds contain exactly the traces to which their callers have access', async () => {
    const { app, parties, objects } = fixture;
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
      void reading.then(() => {
        isOpen = true;
      });
      await expect
        .poll(async () => {
          await sendTrace(app, sender, traceIdOf(nth), open);
          return isOpen;
        })
        .toBe(true);
    }
    for (const [nth, { owner, mark }] of objects.entries())
      await sendTrace(app, owner, traceIdOf(100 + nth), `live ${mark}`);
    for (const [nth, { reader, body, abort }] of feeds.entries()) {
      const sender = senderFor(reader);
      if (sender === undefined) throw new Error('There is no administrator.');
      const reading = readUntil(body, `end ${nth}`);
      await sendTrace(app, sender, traceIdOf(200 + nth), `end ${nth}`);
      const text = await reading;
      const owners = objects.filter(({ mark }) => text.includes(`"live ${mark}"`)).map(({ owner }) => owner.name);
      const expected = objects.filter(({ owner }) => maySee(reader, owner)).map(({ owner }) => owner.name);
      expect([reader.name, owners]).toEqual([reader.name, expected]);
      abort.abort();
    }
  });

  it('information about a key is for the key itself and for administrators only', async () => {
    for (const reader of fixture.parties)
      for (const owner of fixture.parties.filter(({ key }) => key !== fixture.app.adminKey)) {
        const { status, text } = await ask(reader, `/key/info?key=${owner.keyHash}`);
        const hasAccess = reader.seesAll || reader.key === owner.key;
        expect([reader.name, owner.name, status === 200]).toEqual([reader.name, owner.name, hasAccess]);
        expect(text.includes(`mark of ${owner.name}"`)).toBe(hasAccess);
      }
  });
});
