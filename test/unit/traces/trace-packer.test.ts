import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { InvalidInput, TooLarge, Unavailable } from '../../../src/domain/errors.ts';
import { createSlots } from '../../../src/domain/slots.ts';
import { DEFAULT_OTLP_LIMITS } from '../../../src/domain/traces/otlp-limits.ts';
import { createTracePacker } from '../../../src/trace-packer.ts';
import { packExport } from '../../../src/trace-packing.ts';
import { encodeExport } from '../../support/otlp-oracle.ts';
import { randomExport, seeded } from '../../support/random-export.ts';

const OWNER = { teamId: 't', keyHash: 'k' };
const LIMITS = { ...DEFAULT_OTLP_LIMITS, bodyBytes: 1 << 20 };
const unpacking = createSlots(1, 'exports are being unpacked');
const packer = createTracePacker({ limits: LIMITS, unpacking });
afterAll(() => packer.close());

/** The bytes of an export of so many spans, the last of another trace, each with a text of so many bytes. */
const anExport = (spans: number, bytes: number): Uint8Array =>
  encodeExport({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: Array.from({ length: spans }, (_, at) => ({
              traceId: Buffer.alloc(16, at < spans - 1 ? 1 : 2),
              spanId: Buffer.from((at + 1).toString(16).padStart(16, '0'), 'hex'),
              name: `span ${at}`,
              startTimeUnixNano: '1',
              endTimeUnixNano: '2',
              attributes: [{ key: 'gen_ai.prompt', value: { stringValue: 'x'.repeat(bytes) } }],
            })),
          },
        ],
      },
    ],
  });

const protobuf = (bytes: Uint8Array, contentEncoding?: string) => ({
  bytes,
  contentType: 'application/x-protobuf',
  contentEncoding,
});

describe.each([
  ['here', 2, 10],
  ['on a thread', 200, 1_000],
])('an export that is read %s', (_where, spans, bytes) => {
  const plain = anExport(spans, bytes);

  it('comes out the same, gzipped or not, with the sender’s own gzip kept', async () => {
    const gzipped = protobuf(gzipSync(plain), 'gzip');
    const [one, other] = [await packer.pack(gzipped), await packer.pack(protobuf(plain))];
    expect(one.body).toEqual({ format: 'protobuf', compression: 'gzip', bytes: gzipped.bytes });
    expect(other.body.compression).toBe('zstd');
    expect(one.traces).toEqual(other.traces);
    expect(one.traces).toEqual(packExport(gzipped, LIMITS).traces);
    expect(one.traces.map(({ spanIds }) => spanIds.length)).toEqual([spans - 1, 1]);
  });

  it('gives payloads back by their places, and without others when these are gone', async () => {
    const { body } = await packer.pack(protobuf(gzipSync(plain), 'gzip'));
    const [first, last] = [await packer.payload(body, 0, OWNER), await packer.payload(body, spans - 1, OWNER)];
    expect(first.input).toBe('x'.repeat(bytes));
    const rest = await packer.without(body, ['01'.repeat(16)]);
    expect(await packer.payload(rest, spans - 1, OWNER)).toEqual(last);
    expect(rest.bytes.length).toBeLessThan(1_000);
  });

  it('is refused with the error it deserves', async () => {
    await expect(packer.pack(protobuf(plain.slice(0, -1)))).rejects.toThrow(InvalidInput);
    await expect(packer.pack(protobuf(plain, 'gzip'))).rejects.toThrow(new InvalidInput('The body is not valid gzip.'));
    await expect(packer.pack(protobuf(plain, 'br'))).rejects.toThrow(InvalidInput);
  });
});

it('reads what says it is small and is not on a thread all the same', async () => {
  const gzipped = gzipSync(anExport(200, 1_000));
  gzipped.writeUInt32LE(10, gzipped.length - 4);
  // zlib finds the lie at the end, wherever it is read.
  await expect(packer.pack(protobuf(gzipped, 'gzip'))).rejects.toThrow(InvalidInput);
});

it('inflates no further than the limit, and says so', async () => {
  const bomb = gzipSync(Buffer.alloc(4 * LIMITS.bodyBytes));
  const refusal = new TooLarge(`The body is larger than ${LIMITS.bodyBytes} bytes once inflated.`, LIMITS.bodyBytes);
  await expect(packer.pack(protobuf(bomb, 'gzip'))).rejects.toThrow(refusal);
  bomb.writeUInt32LE(10, bomb.length - 4);
  await expect(packer.pack(protobuf(bomb, 'gzip'))).rejects.toThrow(refusal);
});

it('takes nothing while large exports hold every place, and gives each place back', async () => {
  const large = protobuf(anExport(600, 1_000));
  const reading = packer.pack(large);
  await expect(packer.pack(protobuf(anExport(1, 1)))).rejects.toThrow(Unavailable);
  await reading;
  await expect(packer.pack(protobuf(large.bytes.slice(0, -1)))).rejects.toThrow(InvalidInput);
  expect((await packer.pack(protobuf(anExport(1, 1)))).traces.length).toBe(1);
});

it('reads random exports on a thread as it does here', async () => {
  const draw = seeded(5);
  for (let round = 0; round < 20; round += 1) {
    const plain = encodeExport(randomExport(draw).request);
    const gzipped = gzipSync(plain);
    expect((await packer.pack(protobuf(gzipped, 'gzip'))).traces).toEqual(packExport(protobuf(plain), LIMITS).traces);
    expect(gunzipSync(gzipped)).toEqual(Buffer.from(plain));
  }
});
