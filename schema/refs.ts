import type { CatalogEntry } from '../src/domain/catalog/catalog.ts';
import type { CatalogKey, Checkout } from '../src/domain/checkout/checkout.ts';
import type { Usage } from '../src/domain/chat/chat.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import type { SpanHead } from '../src/domain/traces/span.ts';
import type { Owner } from '../src/domain/caller.ts';
import type { Trace, TraceAgent, TraceIdentity } from '../src/domain/traces/trace.ts';
import { builder } from './builder.ts';

// Refs stand apart from their fields, so that nouns may point at each other without import circles.

export const CatalogEntryType = builder.objectRef<CatalogEntry>('CatalogEntry');
/** A key holds or not by what its purchase has come to. */
export const CatalogKeyType = builder.objectRef<{ readonly key: CatalogKey; readonly checkout: Checkout }>(
  'CatalogKey',
);
export const CheckoutType = builder.objectRef<Checkout>('Checkout');

/** In a list only the summary is known: spans and agents are loaded when they are asked for. */
export type KnownOfTrace = Pick<Trace, 'summary'> & Partial<Trace>;

export const TraceType = builder.objectRef<KnownOfTrace>('Trace');
/** What a trace is put together from, which its edges are found by. */
export const partsOf = ({ summary, parts }: KnownOfTrace): readonly TraceIdentity[] => parts ?? [summary];

/** A value that all parts of a trace have in common; null when they differ. */
export function commonOwner<Member extends keyof Owner>(trace: KnownOfTrace, member: Member): Owner[Member] | null {
  const [first, ...others] = new Set(partsOf(trace).map(({ owner }) => owner[member]));
  return first === undefined || others.length > 0 ? null : first;
}

/** An agent, and the trace it is in. */
export type KnownOfAgent = TraceAgent & { readonly within: readonly TraceIdentity[] };
/** A span, and the trace it is in where that is known. */
export type KnownOfSpan = SpanHead & { readonly within?: readonly TraceIdentity[] };

export const TraceAgentType = builder.objectRef<KnownOfAgent>('TraceAgent');
/** Backed by the head: what a span carries is fetched for one span at a time. */
export const SpanType = builder.objectRef<KnownOfSpan>('Span');
export const SpendRowType = builder.objectRef<SpendRow>('SpendRow');
export const UsageType = builder.objectRef<Usage>('Usage');
export const VirtualKeyType = builder.objectRef<VirtualKey>('VirtualKey');
