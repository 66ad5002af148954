import type { Owner } from '../caller.ts';
import type { Usd } from '../money.ts';

/** An OTLP attribute value; bytes stay bytes, so that nothing is guessed at the wall. */
export type AttributeValue =
  | string
  | boolean
  | number
  | bigint
  | Uint8Array
  | null
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue };
export type Attributes = Readonly<Record<string, AttributeValue>>;

export const SPAN_KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];
export const SPAN_STATUSES = ['unset', 'ok', 'error'] as const;
export type SpanStatus = (typeof SPAN_STATUSES)[number];
export const SPAN_TYPES = [
  'agent',
  'llm',
  'tool',
  'chain',
  'framework',
  'retriever',
  'embedding',
  'reranker',
  'guardrail',
  'evaluator',
  'prompt',
  'decision',
] as const;
export type SpanType = (typeof SPAN_TYPES)[number];

/** A span as OTLP carries it, ids in lower-case hex, before any meaning is read into it. */
export interface RawSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for a root. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Unix nanoseconds. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly status: SpanStatus;
  readonly statusMessage: string;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly timeNs: bigint; readonly attributes: Attributes }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly attributes: Attributes }[];
  /** Shared by every span of one resource or instrumentation scope. */
  readonly resource: { readonly attributes: Attributes };
  readonly instrumentationScope: {
    readonly name: string;
    readonly version: string;
    readonly attributes: Attributes;
  };
}

/** Where the runs of agents are asked for. */
export const SOURCE_TYPES = ['slack', 'teams', 'discord', 'linear', 'github', 'jira', 'custom'] as const;

/** Where a run was asked for. */
export interface TraceSource {
  readonly type: (typeof SOURCE_TYPES)[number];
  /** Leads there; `https` only, so that whoever shows it may make a link of it. */
  readonly url: string;
  readonly title: string;
  /** Who asked; null when that is not told. */
  readonly user: string | null;
}

/** One timed unit of a trace without its payload: what a list of spans needs. */
export interface SpanHead {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly type: SpanType;
  /** Name of the agent the span belongs to; empty when none is named. */
  readonly agent: string;
  readonly service: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly status: SpanStatus;
  /** The status message, else what the first exception event says; null when neither. */
  readonly error: string | null;
  readonly model: string | null;
  /** Who answered, as the sender names it, e.g. `openai`; null when it does not, and where no model is named. */
  readonly provider: string | null;
  /** What sent it, e.g. `langchain`; empty when that cannot be told. */
  readonly framework: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** At most 240 characters of the input. */
  readonly inputPreview: string;
  /** The provider's response id found on the span: joins it to a spend row. */
  readonly requestId: string | null;
  /** The gateway's id of the call, where the sender says it; null for the gateway's own spans, whose rows have it. */
  readonly callId: string | null;
  /** Whether the gateway made it: then its books have a row of it. */
  readonly gateway: boolean;
  /** What the gateway charged for this call; null for spans the gateway did not make or could not price. */
  readonly cost: Usd | null;
  /**
   * What the catalog said such a call costs when the span was stored; null where the gateway has a record, and where
   * it would be a guess. Not every estimate counts: see `countedEstimates`.
   */
  readonly estimate: Usd | null;
  /** Where a root's run was asked for; null for other spans, and where it is not told. */
  readonly source: TraceSource | null;
}

/** What a span carries: cut to 64 KiB a value, odd values kept as text. */
export interface SpanPayload {
  readonly input: string;
  readonly output: string;
  /** Every attribute as text, without those lifted into input and output. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly events: readonly {
    readonly name: string;
    readonly timeNs: bigint;
    readonly attributes: Readonly<Record<string, string>>;
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: Readonly<Record<string, string>>;
  }[];
}

export interface Span extends SpanHead, SpanPayload {}

/** Spans the platform made itself, for one credential. Their payloads are kept with them. */
export interface SpanBatch {
  readonly owner: Owner;
  readonly spans: readonly Span[];
  /** Each span begins a trace whose id was made for it, so nothing of it can be stored yet: cheaper to store. */
  readonly begins?: boolean;
}
