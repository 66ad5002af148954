import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import type { Platform } from '../../../resolvers/operation/scope.ts';
import { traceRoutes } from '../../../rest-shims/traces.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { DomainError, InvalidInput, TooLarge } from '../../../src/domain/errors.ts';
import { createSlots } from '../../../src/domain/concurrency-limit.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { decodeExport } from '../../../src/wire/otlp/decode.ts';
import { aClient } from '../../support/free-tier.ts';
import { NO_ESTIMATES } from '../../support/no-estimates.ts';
import { createMemoryTraceStore } from '../../support/memory-trace-store.ts';
import { mutated } from '../../support/mutate.ts';
import { encodeExport, protobufOf, rewritten } from '../../support/otlp-oracle.ts';
import { asOtlpJson, randomExport, seeded } from '../../support/random-export.ts';
import { RECORDINGS, recordings } from '../../support/recorded-spans.ts';
import { aTracePacker } from '../../support/trace-packer.ts';

/** Number of payloads of all kinds. `.ci/run` sets a higher number. */
const PAYLOADS = Number(process.env['LENSGATE_FUZZ_PAYLOADS'] ?? 8_000);
const KINDS = ['protobuf', 'JSON', 'gzipped protobuf', 'gzipped JSON'] as const;
const PER_KIND = Math.ceil(PAYLOADS / KINDS.length);
/** Deadline for the payloads of one kind: a minute, and 10 ms for each payload. */
const TIMEOUT_MS = 60_000 + PER_KIND * 10;
/** Maximum number of spans in a recorded seed. Small payloads run faster. */
const SEED_SPANS = 3;

const CALLER: Caller = { role: 'proxy_admin', keyHash: 'k', key: null, teamId: null, userId: null };
const EVERYTHING = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly unknown[] }[];
  }[];
}

/** Recorded exports of real packages, split into parts of at most `SEED_SPANS` spans, and random exports. */
function seeds(): { readonly protobuf: readonly Uint8Array[]; readonly JSON: readonly Uint8Array[] } {
  const recorded = recordings.flatMap((name) => {
    const { resourceSpans }: ExportRequest = JSON.parse(readFileSync(new URL(`${name}.json`, RECORDINGS), 'utf8'));
    return resourceSpans.flatMap(({ scopeSpans, ...resource }) =>
      scopeSpans.flatMap(({ spans, ...scope }) =>
        Array.from({ length: Math.ceil(spans.length / SEED_SPANS) }, (_, part) => {
          const partSpans = spans.slice(part * SEED_SPANS, (part + 1) * SEED_SPANS);
          return { resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans: partSpans }] }] };
        }),
      ),
    );
  });
  const draw = seeded(3);
  const random = Array.from({ length: 60 }, () => randomExport(draw).request);
  return {
    protobuf: [...recorded.map(protobufOf), ...random.map(encodeExport)],
    JSON: [
      ...recorded.map((json) => Buffer.from(JSON.stringify(json))),
      ...random.map((request) => Buffer.from(asOtlpJson(request))),
    ],
  };
}

const unpacking = createSlots(1, 'exports');
const exports = aTracePacker(unpacking);
const ingest = traceRoutes.find(({ name }) => name === 'traces.ingest');

/** Sends one payload to an empty store. Returns the thrown error, or null, and the number of stored spans. */
async function outcomeOf(body: Uint8Array, headers: Record<string, string>) {
  const traces = createMemoryTraceStore(exports);
  // The trace operations use no other part of the platform.
  const platform = {
    stores: { traces, spend: { findElsewhere: async () => [] } },
    records: { readable: async () => true, newestStartMs: async () => Infinity },
    estimates: NO_ESTIMATES,
    exports,
    bus: createBus(),
  } as unknown as Platform;
  const signal = new AbortController().signal;
  const scope = {
    platform,
    caller: CALLER,
    client: aClient(),
    signal,
    loaders: createLoaders(platform.stores, CALLER),
  };
  let thrown: unknown = null;
  try {
    await ingest?.handle({ method: 'POST', path: '/v1/traces', params: {}, search: '', headers, body }, scope);
  } catch (error) {
    thrown = error;
  }
  const summaries = await traces.listSummaries({ kind: 'all' }, EVERYTHING, Number.MAX_SAFE_INTEGER);
  // Throws if the payload did not release its slot.
  unpacking.take()();
  return { thrown, stored: summaries.reduce((total, { spanCount }) => total + spanCount, 0) };
}

/** Expected number of stored spans: none for a refused payload. Throws every error that is not a refusal. */
function spansIn(body: Uint8Array, mediaType: string): number {
  try {
    return new Set(decodeExport(body, mediaType).map(({ traceId, spanId }) => `${traceId}:${spanId}`)).size;
  } catch (error) {
    if (error instanceof DomainError) return 0;
    throw error;
  }
}

/** Expects the same spans from a payload and from its re-encoding by protobufjs, if both decoders accept the bytes. */
function assertSameReading(body: Uint8Array): 'compared' | 'skipped' {
  const reencoded = rewritten(body);
  if (reencoded === null) return 'skipped';
  try {
    expect(decodeExport(body, 'application/x-protobuf')).toEqual(decodeExport(reencoded, 'application/x-protobuf'));
    return 'compared';
  } catch (error) {
    if (error instanceof DomainError) return 'skipped';
    throw error;
  }
}

describe.each(KINDS)('%s', (kind) => {
  const isGzipped = kind.startsWith('gzipped');
  const isJson = kind.endsWith('JSON');
  const mediaType = isJson ? 'application/json' : 'application/x-protobuf';
  const headers = { 'content-type': mediaType, ...(isGzipped ? { 'content-encoding': 'gzip' } : {}) };

  it(
    `${PER_KIND} of ${PAYLOADS} damaged exports are stored completely or refused`,
    async () => {
      const draw = seeded(11);
      const seedExports = seeds()[isJson ? 'JSON' : 'protobuf'];
      const pick = (): Uint8Array => seedExports[draw(seedExports.length)] ?? Uint8Array.of();
      const counts = { accepted: 0, refused: 0, compared: 0 };
      for (let payload = 0; payload < PER_KIND; payload++) {
        // Half of the gzipped payloads are damaged before compression, half after it.
        const packFirst = isGzipped && payload % 2 === 0;
        const plain = packFirst ? pick() : mutated(pick(), draw, pick());
        const packed = isGzipped ? gzipSync(plain, { level: 1 }) : plain;
        const body = packFirst ? mutated(packed, draw, pick()) : packed;
        const { thrown, stored } = await outcomeOf(body, headers);
        if (thrown === null) counts.accepted++;
        else counts.refused++;
        if (thrown !== null && !(thrown instanceof InvalidInput) && !(thrown instanceof TooLarge)) throw thrown;
        const read = isGzipped && thrown === null ? gunzipSync(body) : plain;
        expect(stored).toBe(thrown === null ? spansIn(read, mediaType) : 0);
        if (!isJson && !isGzipped && assertSameReading(body) === 'compared') counts.compared++;
      }
      // More than a fiftieth of the payloads have each outcome, so the damage is neither too strong nor too weak.
      expect(counts.accepted + counts.refused).toBe(PER_KIND);
      expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(PER_KIND / 50);
      // Only payloads of plain protobuf are compared.
      expect(counts.compared).toBeGreaterThan(isJson || isGzipped ? -1 : PER_KIND / 50);
    },
    TIMEOUT_MS,
  );
});
