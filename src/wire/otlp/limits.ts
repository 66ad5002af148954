import { InvalidInput, TooLarge } from '../../domain/errors.ts';
import type { OtlpLimits } from '../../domain/traces/otlp-limits.ts';

const BOUNDLESS = Number.MAX_SAFE_INTEGER;
/** For bodies that were within their limits when they came. */
export const NO_LIMITS: OtlpLimits = {
  bodyBytes: BOUNDLESS,
  depth: BOUNDLESS,
  nodes: BOUNDLESS,
  spans: BOUNDLESS,
  attributes: BOUNDLESS,
  events: BOUNDLESS,
  links: BOUNDLESS,
  decodedBytes: BOUNDLESS,
  valueBytes: BOUNDLESS,
};

/** What is left of an export's allowance while it is read. */
export interface Allowance {
  readonly limits: OtlpLimits;
  nodes: number;
  spans: number;
  decodedBytes: number;
}

const VALUE_BYTES = 16;
const HOLDER_BYTES = 128;
/** A span brings this part of the bound on nodes: by default room for the 128 attributes SDKs stop at, in JSON. */
const SPANS_SHARE = 64;

export function allowanceOf(limits: OtlpLimits): Allowance {
  return { limits, nodes: limits.nodes, spans: limits.spans, decodedBytes: limits.decodedBytes };
}

export function spendNode(allowance: Allowance): void {
  allowance.nodes--;
  assertNodes(allowance);
}

/** Refuses an export that has spent more fields than it had. */
export function assertNodes({ nodes, limits }: Allowance): void {
  if (nodes < 0) throw new TooLarge('The export has too many fields.', limits.nodes);
}

/** Gives an export the room that its spans bring; no more of them count than there may be. */
export function grantNodesOfSpans(allowance: Allowance, spans = 1): void {
  const { limits } = allowance;
  allowance.nodes += Math.min(spans, limits.spans) * Math.floor(limits.nodes / SPANS_SHARE);
}

/** Pays for one value of this many bytes. */
export function spendValue(allowance: Allowance, bytes: number): void {
  allowance.decodedBytes -= bytes + VALUE_BYTES;
  if (allowance.decodedBytes < 0) throw overBudget(allowance);
}

/** Pays for a resource, instrumentation scope, span, event or link. */
export function spendHolder(allowance: Allowance): void {
  allowance.decodedBytes -= HOLDER_BYTES;
  if (allowance.decodedBytes < 0) throw overBudget(allowance);
}

export function spendSpan(allowance: Allowance): void {
  if (--allowance.spans < 0) throw new TooLarge('The export has too many spans.', allowance.limits.spans);
  spendHolder(allowance);
}

export function assertDepth(allowance: Allowance, depth: number): void {
  if (depth > allowance.limits.depth) throw new TooLarge('The export is nested too deeply.', allowance.limits.depth);
}

/** Refuses a list that has grown past its bound; `kind` names what is listed. */
export function assertCount(count: number, limit: number, kind: 'attributes' | 'events' | 'links'): void {
  if (count > limit) throw new TooLarge(`A span, resource or scope of the export has too many ${kind}.`, limit);
}

const overBudget = ({ limits }: Allowance): TooLarge =>
  new TooLarge('The export is too large once decoded.', limits.decodedBytes);

/** The body is not an ExportTraceServiceRequest in the encoding it claims. */
export function undecodable(why: string, cause?: unknown): InvalidInput {
  return new InvalidInput(`The export could not be decoded: ${why}.`, [], { cause });
}
