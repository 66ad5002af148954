import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Piscina } from 'piscina';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { InvalidInput, TooLarge, Unavailable } from '../../../src/domain/errors.ts';
import { createSlots } from '../../../src/domain/concurrency-limit.ts';
import {
  DEFAULT_OFFLOAD_BYTES,
  DEFAULT_OTLP_LIMITS,
  ONE_CORE_OFFLOAD_BYTES,
} from '../../../src/domain/traces/otlp-limits.ts';
import { spansOfRows } from '../../../src/domain/traces/span-rows.ts';
import { createTracePacker } from '../../../src/ingest/export-packer.ts';
import { packExport } from '../../../src/ingest/pack-export.ts';
import { encodeExport } from '../../support/otlp-oracle.ts';
import { randomExport, seeded } from '../../support/random-export.ts';

const OWNER = { teamId: 't', keyHash: 'k' };
const LIMITS = { ...DEFAULT_OTLP_LIMITS, bodyBytes: 1 << 20 };
const unpacking = createSlots(1, 'exports are being unpacked');
const packer = createTracePacker({ limits: LIMITS, unpacking, offloadBytes: DEFAULT_OFFLOAD_BYTES });
const onOneCore = createTracePacker({ limits: LIMITS, unpacking, offloadBytes: ONE_CORE_OFFLOAD_BYTES });
afterAll(() => Promise.all([packer.close(), onOneCore.close()]));

/** An export of spans with texts of this size. Its last span belongs to a second trace. */
const anExport = (spans: number, bytes: number): Uint8Array =>
  encodeExport({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: Array.from({ length: spans }, (_, index) => ({
              traceId: Buffer.alloc(16, index < spans - 1 ? 1 : 2),
              spanId: Buffer.from((index + 1).toString(16).padStart(16, '0'), 'hex'),
              name: `span ${index}`,
              startTimeUnixNano: '1',
              endTimeUnixNano: '2',
              attributes: [{ key: 'gen_ai.prompt', value: { stringValue: 'x'.repeat(bytes) } }],
            })),
          },
        ],
      },
    ],
  });

/** A copy of the bytes, because the packer may transfer them. */
const protobuf = (bytes: Uint8Array, contentEncoding?: string) => ({
  bytes: new Uint8Array(bytes),
  contentType: 'application/x-protobuf',
  contentEncoding,
});

describe.each([
  ['immediately', packer, 2, 10],
  ['in a separate turn of the event loop', onOneCore, 200, 1_000],
  ['on a thread', packer, 200, 1_000],
])('an export that is read %s', (_where, { pack, payloads, without }, spans, bytes) => {
  const plain = anExport(spans, bytes);

  it('is the same with and without gzip, and keeps the gzip of the sender', async () => {
    const gzipped = new Uint8Array(gzipSync(plain));
    const [fromGzip, fromPlain] = [await pack(protobuf(gzipped, 'gzip')), await pack(protobuf(plain))];
    expect(fromGzip.body).toEqual({ format: 'protobuf', compression: 'gzip', bytes: gzipped });
    expect(fromPlain.body.compression).toBe('zstd');
    expect([fromGzip.traces, fromGzip.calls]).toEqual([fromPlain.traces, fromPlain.calls]);
    expect(fromGzip).toEqual(packExport(protobuf(gzipped, 'gzip'), LIMITS));
    expect(fromGzip.traces.map(({ spanIds }) => spanIds.length)).toEqual([spans - 1, 1]);
  });

  it('returns payloads by position, also after others are removed', async () => {
    const { body } = await pack(protobuf(gzipSync(plain), 'gzip'));
    const [last, first] = await payloads(body, [spans - 1, 0], OWNER);
    expect(first?.input).toBe('x'.repeat(bytes));
    // The id of the first trace is 16 bytes with the value 1.
    const remaining = await without(body, ['01'.repeat(16)]);
    expect(await payloads(remaining, [spans - 1], OWNER)).toEqual([last]);
    expect(remaining.bytes.length).toBeLessThan(1_000);
  });

  it('is refused if it is invalid', async () => {
    await expect(pack(protobuf(plain.slice(0, -1)))).rejects.toThrow(InvalidInput);
    await expect(pack(protobuf(plain, 'gzip'))).rejects.toThrow(new InvalidInput('The body is not valid gzip.'));
    await expect(pack(protobuf(plain, 'br'))).rejects.toThrow(InvalidInput);
  });
});

it('a trace packer refuses a large body that declares a small size', async () => {
  const gzipped = gzipSync(anExport(200, 1_000));
  // The last four bytes of gzip declare the decompressed size.
  gzipped.writeUInt32LE(10, gzipped.length - 4);
  // zlib detects the wrong size at the end of the body.
  await expect(packer.pack(protobuf(gzipped, 'gzip'))).rejects.toThrow(InvalidInput);
});

it('a trace packer refuses a body that inflates above the limit, for any declared size', async () => {
  const bomb = gzipSync(Buffer.alloc(4 * LIMITS.bodyBytes));
  const refusal = new TooLarge(`The body is larger than ${LIMITS.bodyBytes} bytes once inflated.`, LIMITS.bodyBytes);
  await expect(packer.pack(protobuf(bomb, 'gzip'))).rejects.toThrow(refusal);
  bomb.writeUInt32LE(10, bomb.length - 4);
  await expect(packer.pack(protobuf(bomb, 'gzip'))).rejects.toThrow(refusal);
});

it('a trace packer reads an export on the main thread up to the configured size, and a larger one on a worker thread', async () => {
  const small = protobuf(anExport(2, 10));
  const large = protobuf(anExport(2, 11));
  const bounded = createTracePacker({ limits: LIMITS, unpacking, offloadBytes: small.bytes.length });
  const packed = [await bounded.pack(small), await bounded.pack(large)];
  expect(packed.map(({ traces }) => traces.length)).toEqual([2, 2]);
  // The bytes of the larger export are transferred to the other thread.
  expect([small.bytes.length > 0, large.bytes.length]).toEqual([true, 0]);
  await bounded.close();
});

it('a trace packer yields to other requests between two exports that are read on the main thread', async () => {
  const plain = anExport(200, 1_000);
  const order: string[] = [];
  const reads = Array.from({ length: 3 }, async (_, index) => {
    await onOneCore.pack(protobuf(plain));
    order.push(`export ${index}`);
  });
  const others = (async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await nextTurn();
      order.push('another');
    }
  })();
  await Promise.all([...reads, others]);
  expect(order.join()).toMatch(/^(?:export \d,another,?|another,export \d,?){3}$/);
});

it('a trace packer decompresses a stored body on a worker thread if its decompressed size is above the configured size', async () => {
  const plain = anExport(200, 5_000);
  const { body } = await onOneCore.pack(protobuf(gzipSync(plain), 'gzip'));
  // Only the decompressed size is above the configured size.
  expect(body.bytes.length).toBeLessThan(DEFAULT_OFFLOAD_BYTES);
  const threadRuns = vi.spyOn(Piscina.prototype, 'run');
  expect((await onOneCore.payloads(body, [0], OWNER))[0]?.input).toBe('x'.repeat(5_000));
  expect(threadRuns).toHaveBeenCalledOnce();
});

it('a trace packer decompresses large gzip on a worker thread, also when its last member is small', async () => {
  const plain = anExport(2, 40_000);
  const parts = [gzipSync(plain.subarray(0, -10), { level: 0 }), gzipSync(plain.subarray(-10))];
  const { body } = await packer.pack(protobuf(Buffer.concat(parts), 'gzip'));
  const threadRuns = vi.spyOn(Piscina.prototype, 'run').mockClear();
  expect((await packer.payloads(body, [0], OWNER))[0]?.input).toBe('x'.repeat(40_000));
  expect(threadRuns).toHaveBeenCalledOnce();
});

it('a trace packer refuses exports while large ones use all slots, and frees a slot after success and failure', async () => {
  const large = anExport(600, 1_000);
  const reading = packer.pack(protobuf(large));
  await expect(packer.pack(protobuf(anExport(1, 1)))).rejects.toThrow(Unavailable);
  await reading;
  await expect(packer.pack(protobuf(large.slice(0, -1)))).rejects.toThrow(InvalidInput);
  expect((await packer.pack(protobuf(anExport(1, 1)))).traces.length).toBe(1);
});

it('a trace packer passes an export to a thread and back, also from shared memory', async () => {
  const gzipped = gzipSync(anExport(200, 1_000));
  const shared = new Uint8Array(gzipped.length + 2).fill(7);
  shared.set(gzipped, 1);
  for (const bytes of [new Uint8Array(gzipped), shared.subarray(1, -1)]) {
    const { body } = await packer.pack({ ...protobuf(gzipped, 'gzip'), bytes });
    expect(body.bytes).toEqual(new Uint8Array(gzipped));
  }
  expect([shared[0], shared.at(-1), gunzipSync(shared.subarray(1, -1)).length]).toEqual([
    7,
    7,
    gunzipSync(gzipped).length,
  ]);
});

it('a trace packer reads random exports like `packExport`, on the main and a worker thread, and keeps their bytes', async () => {
  const draw = seeded(5);
  const threadRuns = vi.spyOn(Piscina.prototype, 'run').mockClear();
  for (let round = 0; round < 20; round += 1) {
    const isLarge = round % 2 === 1;
    // Joined protobuf messages are one export.
    const parts = Array.from({ length: isLarge ? 50 : 1 }, () => encodeExport(randomExport(draw).request));
    const plain = Buffer.concat(parts);
    expect(plain.length > DEFAULT_OFFLOAD_BYTES).toBe(isLarge);
    const { body, ...read } = await packer.pack(protobuf(gzipSync(plain), 'gzip'));
    const { body: _, ...expected } = packExport(protobuf(plain), LIMITS);
    expect(read).toEqual(expected);
    expect(gunzipSync(body.bytes)).toEqual(plain);
  }
  expect(threadRuns).toHaveBeenCalledTimes(10);
});

it('`packExport` groups the spans of a trace in any order, and keeps the first of spans with the same id', () => {
  const span = (trace: number, id: number, name: string) => ({
    traceId: Buffer.alloc(16, trace),
    spanId: Buffer.alloc(8, id),
    name,
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
  });
  const spans = [
    span(1, 1, 'a'),
    span(2, 1, 'b'),
    span(1, 2, 'c'),
    span(1, 1, 'again'),
    span(2, 1, 'again'),
    span(1, 3, 'd'),
  ];
  const { traces } = packExport(protobuf(encodeExport({ resourceSpans: [{ scopeSpans: [{ spans }] }] })), LIMITS);
  expect(
    traces.map(({ traceId, spanIds, rows, tally }) => ({
      trace: Number(traceId.slice(0, 2)),
      spans: spansOfRows(traceId, rows).map(({ head, payload }) => [head.name, payload.kind === 'body' && payload.at]),
      ids: spanIds.map((id) => Number(id.slice(0, 2))),
      spanCount: tally.spanCount,
    })),
  ).toEqual([
    {
      trace: 1,
      spans: [
        ['a', 0],
        ['c', 2],
        ['d', 5],
      ],
      ids: [1, 2, 3],
      spanCount: 3,
    },
    { trace: 2, spans: [['b', 1]], ids: [1], spanCount: 1 },
  ]);
});
