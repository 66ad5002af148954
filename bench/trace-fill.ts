import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '../src/domain/caller.ts';
import type { PackedExport, PackedTrace } from '../src/domain/traces/packed.ts';
import { spanRows } from '../src/domain/traces/span-rows.ts';
import type { SpanHead } from '../src/domain/traces/span.ts';
import type { TraceStore } from '../src/domain/traces/store.ts';
import { tallyOf } from '../src/domain/traces/trace.ts';

export const DAYS = 30;
export const DAY_MS = 86_400_000;
export const TEAMS = 50;
export const SPANS_PER_TRACE = 10;
/** A trace with very many spans. It is older than all others, so that no list begins with it. */
export const LARGE = { traceId: 'f'.repeat(32), spans: 20_000 };

/** Marker file of a filled folder. */
export const FILLED = 'filled.json';

const TRACES_PER_CALL = 400;
/** Spans of an export of the large trace. */
const LARGE_PART = 1_000;

/** A filled store: end of the period of its traces, and time of filling it without the large trace, in ms. */
export interface Filled {
  readonly endMs: number;
  readonly buildMs: number;
}

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');
/** Pseudorandom id, derived from the number of the trace. */
export const traceIdOf = (number: number): string => hex(Math.imul(number + 1, 0x9e3779b1) >>> 0, 8) + hex(number, 24);
const ownerOf = (number: number): Owner => ({ teamId: `team-${number % TEAMS}`, keyHash: hex(number % TEAMS, 64) });

interface FillOptions {
  readonly traceId: string;
  readonly startMs: number;
  /** Number of the root span. The other spans of the trace have the numbers after it. */
  readonly rootNumber: number;
  /** Position in the trace of the first span of this export, and number of its spans. */
  readonly first: number;
  readonly count: number;
}

function packedTrace({ traceId, startMs, rootNumber, first, count }: FillOptions): PackedTrace {
  const startNs = BigInt(Math.floor(startMs)) * 1_000_000n;
  const heads = Array.from({ length: count }, (_, place): SpanHead => {
    const at = first + place;
    return {
      traceId,
      spanId: hex(rootNumber + at, 16),
      parentSpanId: at === 0 ? null : hex(rootNumber, 16),
      name: at === 0 ? 'invoke_agent planner' : 'chat gpt-4o',
      kind: at === 0 ? 'INTERNAL' : 'CLIENT',
      type: at === 0 ? 'agent' : 'llm',
      agent: 'planner',
      service: 'bench-agent',
      startNs: startNs + BigInt(at),
      endNs: startNs + 1_000_000_000n,
      status: 'ok',
      error: null,
      model: at === 0 ? null : 'gpt-4o',
      inputTokens: 100,
      outputTokens: 20,
      inputPreview: 'What is to be done about the order that never came?',
      requestId: null,
      provider: 'openai',
      framework: 'openai',
      callId: null,
      gateway: false,
      cost: null,
      estimate: null,
      source: null,
    };
  });
  return {
    traceId,
    tally: tallyOf(heads),
    spanIds: heads.map(({ spanId }) => spanId),
    rows: spanRows(heads.map((head, at) => ({ head, payload: { kind: 'body', at } }))),
    callAncestors: [],
  };
}

/** Traces as one export without bodies. */
const packed = (traces: readonly PackedTrace[]): PackedExport => ({
  body: { format: 'protobuf', compression: 'zstd', bytes: new Uint8Array(0) },
  traces,
  calls: [],
});

/**
 * Stores spans without payloads over thirty days, and the large trace before them. Then marks the folder; a marked
 * folder is not changed.
 */
export async function fill(store: TraceStore, folder: string, spans: number): Promise<Filled> {
  const marker = join(folder, FILLED);
  if (existsSync(marker)) return JSON.parse(readFileSync(marker, 'utf8')) as Filled;
  const endMs = Date.now();
  const traces = Math.ceil(spans / SPANS_PER_TRACE);
  const stepMs = (DAYS * DAY_MS) / traces;
  const startedAt = performance.now();
  for (let first = 0; first < traces; first += TRACES_PER_CALL) {
    const numbers = Array.from({ length: Math.min(TRACES_PER_CALL, traces - first) }, (_, at) => first + at);
    // One concurrent call for each owner: these calls share a commit.
    const byOwner = Map.groupBy(numbers, (number) => number % TEAMS);
    const calls = [...byOwner].map(([owner, own]) => {
      const each = own.map((number) =>
        packedTrace({
          traceId: traceIdOf(number),
          startMs: endMs - (traces - number) * stepMs,
          rootNumber: number * SPANS_PER_TRACE + 1,
          first: 0,
          count: SPANS_PER_TRACE,
        }),
      );
      return store.ingestExport(ownerOf(owner), packed(each));
    });
    await Promise.all(calls);
  }
  const buildMs = performance.now() - startedAt;
  const startMs = endMs - (DAYS + 1) * DAY_MS;
  for (let first = 0; first < LARGE.spans; first += LARGE_PART) {
    // 1e9 is above the numbers of all other spans.
    const part = { traceId: LARGE.traceId, startMs, rootNumber: 1e9, first, count: LARGE_PART };
    await store.ingestExport(ownerOf(0), packed([packedTrace(part)]));
  }
  const filled: Filled = { endMs, buildMs };
  writeFileSync(marker, JSON.stringify(filled));
  return filled;
}
