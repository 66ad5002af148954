import { InvalidInput, TooLarge } from '../../domain/errors.ts';
import type { OtlpLimits } from '../../domain/traces/otlp-limits.ts';

const UNLIMITED = Number.MAX_SAFE_INTEGER;
/** Limits for stored bodies, which were checked when they were accepted. */
export const NO_LIMITS: OtlpLimits = {
  bodyBytes: UNLIMITED,
  depth: UNLIMITED,
  nodes: UNLIMITED,
  spans: UNLIMITED,
  attributes: UNLIMITED,
  events: UNLIMITED,
  links: UNLIMITED,
  decodedBytes: UNLIMITED,
  valueBytes: UNLIMITED,
};

/** Remaining budget of one export while it is decoded. */
export interface Allowance {
  readonly limits: OtlpLimits;
  /** Remaining fields (protobuf), or keys and values (JSON). */
  nodes: number;
  spans: number;
  decodedBytes: number;
}

/** Memory of one decoded value besides its content, in bytes. */
const VALUE_BYTES = 16;
/** Memory of one decoded resource, scope, span, event or link without its values, in bytes. */
const MESSAGE_BYTES = 128;
/** Each span adds 1/64 of the node limit. The default is enough for 128 attributes in JSON, the limit of SDKs. */
const SPANS_SHARE = 64;

/** Full budget for one export. */
export function allowanceOf(limits: OtlpLimits): Allowance {
  return { limits, nodes: limits.nodes, spans: limits.spans, decodedBytes: limits.decodedBytes };
}

/** Charges one node. Throws TooLarge. */
export function spendNode(allowance: Allowance): void {
  allowance.nodes--;
  assertNodes(allowance);
}

/** Throws TooLarge when the export has too many nodes. */
export function assertNodes({ nodes, limits }: Allowance): void {
  if (nodes < 0) throw new TooLarge('The export has too many fields.', limits.nodes);
}

/** Adds the nodes that spans bring. Counts at most as many spans as the limit allows. */
export function grantNodesOfSpans(allowance: Allowance, spans = 1): void {
  const { limits } = allowance;
  allowance.nodes += Math.min(spans, limits.spans) * Math.floor(limits.nodes / SPANS_SHARE);
}

/** Charges one value of this many bytes. Throws TooLarge. */
export function spendValue(allowance: Allowance, bytes: number): void {
  allowance.decodedBytes -= bytes + VALUE_BYTES;
  if (allowance.decodedBytes < 0) throw overBudget(allowance);
}

/** Charges one resource, instrumentation scope, span, event or link. Throws TooLarge. */
export function spendMessage(allowance: Allowance): void {
  allowance.decodedBytes -= MESSAGE_BYTES;
  if (allowance.decodedBytes < 0) throw overBudget(allowance);
}

/** Charges one span. Throws TooLarge. */
export function spendSpan(allowance: Allowance): void {
  if (--allowance.spans < 0) throw new TooLarge('The export has too many spans.', allowance.limits.spans);
  spendMessage(allowance);
}

/** Throws TooLarge when the nesting is too deep. */
export function assertDepth(allowance: Allowance, depth: number): void {
  if (depth > allowance.limits.depth) throw new TooLarge('The export is nested too deeply.', allowance.limits.depth);
}

/** Throws TooLarge when a list of this kind is too long. */
export function assertCount(count: number, limit: number, kind: 'attributes' | 'events' | 'links'): void {
  if (count > limit) throw new TooLarge(`A span, resource or scope of the export has too many ${kind}.`, limit);
}

const overBudget = ({ limits }: Allowance): TooLarge =>
  new TooLarge('The export is too large once decoded.', limits.decodedBytes);

/** Error for a body that is not an ExportTraceServiceRequest in its encoding. `why` completes the message. */
export function undecodable(why: string, cause?: unknown): InvalidInput {
  return new InvalidInput(`The export could not be decoded: ${why}.`, [], { cause });
}
