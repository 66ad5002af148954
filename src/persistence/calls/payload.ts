import { isCallLabel } from '../../domain/calls/call-labels.ts';
import { byPattern, type PayloadPattern } from '../../domain/traces/call-body.ts';
import type { SpanPayload } from '../../domain/traces/span.ts';
import { payloadText } from '../../domain/traces/span-rows.ts';

/** Writes a payload as a line of a body has it, see `call-body.ts`. */
export type PayloadWriter = (payload: SpanPayload) => string;

/** What JSON has nothing to escape in. */
const PLAIN = /^[\w .:/-]*$/;
const quoted = (value: string): string => (PLAIN.test(value) ? `"${value}"` : JSON.stringify(value));

/** A pattern for payloads that are mostly as this one. It outlives its call, so `names` and labels of that are left out of it. */
export function patternOf(
  { attributes, resourceAttributes }: SpanPayload,
  names: readonly (string | null)[],
): PayloadPattern {
  const kept = Object.entries(attributes).map(
    ([name, value]) => [name, isCallLabel(name) || names.includes(value) ? '' : value] as const,
  );
  return { attributes: Object.fromEntries(kept), resourceAttributes };
}

/**
 * A writer that says of a payload only what is not as in the pattern. What has other attributes, or anything that hangs
 * on a span, is written as a whole.
 */
export function payloadsLike({ attributes, resourceAttributes }: PayloadPattern): PayloadWriter {
  const names = Object.keys(attributes);
  const values = Object.values(attributes);

  return (payload) => {
    if (payload.resourceAttributes !== resourceAttributes || payload.events.length > 0 || payload.links.length > 0)
      return payloadText(payload);
    let text = `${quoted(payload.input)},${quoted(payload.output)}`;
    let at = 0;
    for (const name in payload.attributes) {
      if (name !== names[at]) return payloadText(payload);
      const value = payload.attributes[name] ?? '';
      if (value !== values[at]) text += `,${at},${quoted(value)}`;
      at += 1;
    }
    return at === names.length ? byPattern(text) : payloadText(payload);
  };
}
