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

/** How many in all; a fresh machine's run sets more. */
const PAYLOADS = Number(process.env['LENSGATE_FUZZ_PAYLOADS'] ?? 8_000);
const KINDS = ['protobuf', 'JSON', 'gzipped protobuf', 'gzipped JSON'] as const;
const EACH = Math.ceil(PAYLOADS / KINDS.length);
/** Deadline of all payloads of a kind: 10 ms for each, and a minute. */
const LONGEST_MS = 60_000 + EACH * 10;
/** Spans of one seed. Small payloads contain every field, and more of them fit into a run. */
const SEED_SPANS = 3;

const CALLER: Caller = { role: 'proxy_admin', keyHash: 'k', key: null, teamId: null, userId: null };
const EVERYTHING = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly unknown[] }[];
  }[];
}

/** Exports of real packages, a few spans at a time, and damaged ones. */
function seeds(): { readonly protobuf: readonly Uint8Array[]; readonly JSON: readonly Uint8Array[] } {
  const recorded = recordings.flatMap((name) => {
    const { resourceSpans }: ExportRequest = JSON.parse(readFileSync(new URL(`${name}.json`, RECORDINGS), 'utf8'));
    return resourceSpans.flatMap(({ scopeSpans, ...resource }) =>
      scopeSpans.flatMap(({ spans, ...scope }) =>
        Array.from({ length: Math.ceil(spans.length / SEED_SPANS) }, (_, part) => {
          const some = spans.slice(part * SEED_SPANS, (part + 1) * SEED_SPANS);
          return { resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans: some }] }] };
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

/** Sends one payload to an instance of its own. Returns what came of it, and how many spans are stored then. */
async function outcomeOf(body: Uint8Array, headers: Record<string, string>) {
  const traces = createMemoryTraceStore(exports);
  // The trace operations use no other part of the platform.
  const platform = {
    stores: { traces, spend: { findElsewhere: async () => [] } },
    records: { readable: async () => true },
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
  let refusal: unknown = null;
  try {
    await ingest?.handle({ method: 'POST', path: '/v1/traces', params: {}, search: '', headers, body }, scope);
  } catch (error) {
    refusal = error;
  }
  const summaries = await traces.listSummaries({ kind: 'all' }, EVERYTHING, Number.MAX_SAFE_INTEGER);
  // A slot that was not released would refuse the next export.
  unpacking.take()();
  return { refusal, stored: summaries.reduce((total, { spanCount }) => total + spanCount, 0) };
}

/** How many spans have to be stored of a payload: none when it is refused. Throws what no payload may cause. */
function spansIn(body: Uint8Array, mediaType: string): number {
  try {
    return new Set(decodeExport(body, mediaType).map(({ traceId, spanId }) => `${traceId}:${spanId}`)).size;
  } catch (error) {
    if (error instanceof DomainError) return 0;
    throw error;
  }
}

/** Whether our reading of a protobuf payload is that of another decoder, where both take it. */
function assertSameReading(body: Uint8Array): 'compared' | 'left' {
  const theirs = rewritten(body);
  if (theirs === null) return 'left';
  try {
    expect(decodeExport(body, 'application/x-protobuf')).toEqual(decodeExport(theirs, 'application/x-protobuf'));
    return 'compared';
  } catch (error) {
    if (error instanceof DomainError) return 'left';
    throw error;
  }
}

describe.each(KINDS)('%s', (kind) => {
  const gzipped = kind.startsWith('gzipped');
  const json = kind.endsWith('JSON');
  const mediaType = json ? 'application/json' : 'application/x-protobuf';
  const headers = { 'content-type': mediaType, ...(gzipped ? { 'content-encoding': 'gzip' } : {}) };

  it(
    `${EACH} of ${PAYLOADS} damaged exports are taken whole or refused, stored or not at all`,
    async () => {
      const draw = seeded(11);
      const whole = seeds()[json ? 'JSON' : 'protobuf'];
      const pick = (): Uint8Array => whole[draw(whole.length)] ?? Uint8Array.of();
      const counts = { taken: 0, refused: 0, compared: 0 };
      for (let payload = 0; payload < EACH; payload++) {
        // Half of what is packed is damaged before it is, half after.
        const packFirst = gzipped && payload % 2 === 0;
        const plain = packFirst ? pick() : mutated(pick(), draw, pick());
        const packed = gzipped ? gzipSync(plain, { level: 1 }) : plain;
        const body = packFirst ? mutated(packed, draw, pick()) : packed;
        const { refusal, stored } = await outcomeOf(body, headers);
        if (refusal === null) counts.taken++;
        else counts.refused++;
        if (refusal !== null && !(refusal instanceof InvalidInput) && !(refusal instanceof TooLarge)) throw refusal;
        const read = gzipped && refusal === null ? gunzipSync(body) : plain;
        expect(stored).toBe(refusal === null ? spansIn(read, mediaType) : 0);
        if (!json && !gzipped && assertSameReading(body) === 'compared') counts.compared++;
      }
      // Every way was taken, so the damage was neither total nor none.
      expect(counts.taken + counts.refused).toBe(EACH);
      expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(EACH / 50);
      expect(counts.compared).toBeGreaterThan(json || gzipped ? -1 : EACH / 50);
    },
    LONGEST_MS,
  );
});
