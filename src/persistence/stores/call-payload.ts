import type { SpanPayload } from '../../domain/traces/span.ts';
import { payloadText } from '../../domain/traces/span-rows.ts';

/** Writes what `payloadText` does. */
export type PayloadWriter = (payload: SpanPayload) => string;

/** What JSON has nothing to escape in. */
const PLAIN = /^[\w .:/-]*$/;
const quoted = (value: string): string => (PLAIN.test(value) ? `"${value}"` : JSON.stringify(value));

/**
 * A writer for payloads that are mostly as the first: of their text, only the values that differ are written anew. What
 * has other attributes, or anything that hangs on a span, is written as a whole.
 */
export function payloadsLike({ attributes, resourceAttributes }: SpanPayload): PayloadWriter {
  const names = Object.keys(attributes);
  const values = Object.values(attributes);
  const keys = names.map((name, at) => `${at === 0 ? '' : ','}${JSON.stringify(name)}:`);
  const behind = `},${JSON.stringify(resourceAttributes)},[],[]]`;
  /** The text of values that stand side by side, by the numbers of the first and of the one behind the last. */
  const runs: string[][] = names.map(() => []);
  const run = (from: number, to: number): string => {
    const known = runs[from];
    if (known === undefined || from === to) return '';
    return (known[to] ??= keys
      .slice(from, to)
      .map((key, at) => key + JSON.stringify(values[from + at]))
      .join(''));
  };

  return (payload) => {
    if (payload.resourceAttributes !== resourceAttributes || payload.events.length > 0 || payload.links.length > 0)
      return payloadText(payload);
    let text = `[${quoted(payload.input)},${quoted(payload.output)},{`;
    let at = 0;
    let from = 0;
    for (const name in payload.attributes) {
      if (name !== names[at]) return payloadText(payload);
      const value = payload.attributes[name] ?? '';
      if (value !== values[at]) {
        text += `${run(from, at)}${keys[at]}${quoted(value)}`;
        from = at + 1;
      }
      at += 1;
    }
    return at === names.length ? text + run(from, at) + behind : payloadText(payload);
  };
}
