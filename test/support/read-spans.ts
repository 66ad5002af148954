import type { Owner } from '../../src/domain/caller.ts';
import { readHead, readPayload } from '../../src/domain/traces/read-span.ts';
import type { RawSpan, Span } from '../../src/domain/traces/span.ts';

/** Spans with all fields that the ingest reads from them. */
export const readSpans = (spans: readonly RawSpan[], owner: Owner, maxValueBytes?: number): readonly Span[] =>
  spans.map((span) => ({ ...readHead(span, maxValueBytes), ...readPayload(span, owner, maxValueBytes) }));
