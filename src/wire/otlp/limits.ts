import { InvalidInput, TooLarge } from '../../domain/errors.ts';

/** How much one export may ask of us. Crossing any of these refuses the whole export as TooLarge. */
export interface OtlpLimits {
  /** Bytes of body, as received and again once inflated. The door holds this one. */
  readonly bodyBytes: number;
  /** Nesting of messages (protobuf) or of objects and arrays (JSON). */
  readonly depth: number;
  /** Protobuf fields, or JSON keys and values. */
  readonly nodes: number;
  readonly spans: number;
  /** Attributes of one resource, instrumentation scope, span, event or link. */
  readonly attributes: number;
  /** Events of one span. */
  readonly events: number;
  /** Links of one span. */
  readonly links: number;
  /**
   * What decoding may make of the body: bytes of every text and binary value, plus 16 for every value and
   * 128 for every span, event, link, resource and instrumentation scope. What spans share counts once.
   */
  readonly decodedBytes: number;
}

export const DEFAULT_OTLP_LIMITS: OtlpLimits = {
  bodyBytes: 16_777_216,
  depth: 32,
  nodes: 65_536,
  spans: 4_096,
  attributes: 256,
  events: 256,
  links: 256,
  decodedBytes: 16_777_216,
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

export function allowanceOf(limits: OtlpLimits): Allowance {
  return { limits, nodes: limits.nodes, spans: limits.spans, decodedBytes: limits.decodedBytes };
}

export function spendNode(allowance: Allowance): void {
  if (--allowance.nodes < 0) throw new TooLarge('The export has too many fields.', allowance.limits.nodes);
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
