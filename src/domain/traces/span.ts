import type { Owner } from '../caller.ts';
import type { Usd } from '../money.ts';

/** An OTLP attribute value. Bytes are not decoded. */
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

/** A span as OTLP has it, with ids in lower-case hex, before interpretation. */
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

/** Systems in which agent runs are started. */
export const SOURCE_TYPES = ['slack', 'teams', 'discord', 'linear', 'github', 'jira', 'custom'] as const;

/** Place where an agent run was started, for example a message or an issue. */
export interface TraceSource {
  readonly type: (typeof SOURCE_TYPES)[number];
  /** Address of the source; `https` only, so that it may be shown as a link. */
  readonly url: string;
  readonly title: string;
  /** The user of the source who started the run; null when unknown. */
  readonly user: string | null;
}

/** Session, user and tags that the sender of a trace states. */
export interface TraceLabels {
  readonly sessionId: string | null;
  readonly userId: string | null;
  /** Distinct, sorted. */
  readonly tags: readonly string[];
}

/** A span without its payload. */
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
  /** The status message, else the message or the type of the first exception event; null without them. */
  readonly error: string | null;
  readonly model: string | null;
  /**
   * The provider in one spelling, e.g. `openai`: see `providerLabel`. Null when unknown, and for spans without a model.
   */
  readonly provider: string | null;
  /** Sending framework, e.g. `langchain`; empty when unknown. */
  readonly framework: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** At most 240 characters of the input. */
  readonly inputPreview: string;
  /**
   * Id of the provider's answer, as the span states it: despite the name, not the id of a request. It joins the span to
   * a spend row.
   */
  readonly requestId: string | null;
  /** The gateway's call id, when the sender gives it; null for spans of the gateway, whose spend rows have it. */
  readonly callId: string | null;
  /** Whether it is a call that the gateway made. Such a call has a spend row. */
  readonly gateway: boolean;
  /** True for a client's call without a count of cached tokens: its estimate has the full price of input. */
  readonly cacheUnknown?: boolean | undefined;
  /** Charge of the gateway for this call; null for spans that the gateway did not make or could not price. */
  readonly cost: Usd | null;
  /**
   * Cost by the catalog when the span was stored; null when the gateway has a record, or when no price is unambiguous.
   * Not every estimate counts: see `countedEstimates`.
   */
  readonly estimate: Usd | null;
  /** Source of the agent run, for a root; null when unknown, and for other spans. */
  readonly source: TraceSource | null;
  /**
   * Session, user and tags that the span states; undefined for none. Only the trace stores them: spans from a store
   * have none.
   */
  readonly labels?: TraceLabels | undefined;
}

/** Payload of a span. All values are text, cut to a configured limit (default: `MAX_VALUE_BYTES`). */
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

/** Spans that the platform made, for one credential, with their payloads. */
export interface SpanBatch {
  readonly owner: Owner;
  readonly spans: readonly Span[];
  /** True when each span begins a trace with a new id, so that the store need not look for stored spans. */
  readonly startsNewTraces?: boolean;
}

/** Maximum number of spans of a page. */
export const MAX_PAGE_SPANS = 500;
