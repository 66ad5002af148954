import type { JsonObject } from '../json-object.ts';

/** Bytes of UTF-8 that are kept of one stored text: an attribute value, an input, an output. */
export const MAX_VALUE_BYTES = 65_536;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** A UTF-16 unit is at most this many bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

function fits(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return false;
  return text.length * MAX_BYTES_PER_UNIT <= maxBytes || encoder.encode(text).length <= maxBytes;
}

/**
 * The text, if it has at most `maxBytes`. Else its first `maxBytes`, to a character boundary, and the number of bytes
 * that are cut.
 */
export function truncateText(text: string, maxBytes: number): string {
  if (fits(text, maxBytes)) return text;
  const bytes = encoder.encode(text);
  const keptBytes = characterBoundary(bytes, maxBytes);
  return `${decoder.decode(bytes.subarray(0, keptBytes))}…[truncated ${bytes.length - keptBytes} bytes]`;
}

/** Whether a text is the result of a cut by `truncateText`. */
export const isTruncated = (text: string): boolean => /…\[truncated \d+ bytes\]$/.test(text);

/** The last character boundary at or before `maxBytes`. */
function characterBoundary(bytes: Uint8Array, maxBytes: number): number {
  let end = Math.max(0, maxBytes);
  // 10xxxxxx continues a character that began before.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** At most the first `length` UTF-16 units, never half a character. */
export function truncateUnits(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/**
 * A conversation that is too long keeps its first message and as many of its newest messages as fit. A system message
 * between them gives the number of removed messages. When none of the newest fits, the contents of the first and the
 * last message are cut. The result is valid JSON. Any other text, and a conversation of one message, is cut as text.
 */
export function truncateConversation(text: string, maxBytes: number): string {
  if (fits(text, maxBytes)) return text;
  const messages = parseMessages(text);
  const first = messages?.[0];
  const last = messages?.at(-1);
  if (messages === null || first === undefined || last === undefined || messages.length < 2)
    return truncateText(text, maxBytes);
  return keepEnds(messages, maxBytes) ?? shortenEnds(messages, first, last, maxBytes);
}

function parseMessages(text: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const marker = (removed: number): unknown => ({ role: 'system', content: `…[${removed} messages removed]` });
const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).length;

/** First message, marker, newest messages; null when not even one of the newest fits. */
function keepEnds(messages: readonly unknown[], maxBytes: number): string | null {
  // Brackets, the marker with the most digits it can need, and its comma.
  let remainingBytes = maxBytes - 2 - bytesOf(messages[0]) - bytesOf(marker(messages.length)) - 1;
  let keptCount = 0;
  while (keptCount < messages.length - 1) {
    remainingBytes -= bytesOf(messages[messages.length - 1 - keptCount]) + 1;
    if (remainingBytes < 0) break;
    keptCount++;
  }
  if (keptCount === 0) return null;
  const removed = messages.length - 1 - keptCount;
  return JSON.stringify([messages[0], ...(removed > 0 ? [marker(removed)] : []), ...messages.slice(-keptCount)]);
}

/** The first and last message only, their texts cut until both fit; a marker alone when they never fit. */
function shortenEnds(messages: readonly unknown[], first: unknown, last: unknown, maxBytes: number): string {
  const removed = messages.length - 2;
  const between = removed > 0 ? [marker(removed)] : [];
  // JSON escapes can make the cut text longer, so the limit is halved until the result fits.
  for (let limit = Math.floor(maxBytes / 2); limit > 0; limit = Math.floor(limit / 2)) {
    const text = JSON.stringify([shorten(first, limit), ...between, shorten(last, limit)]);
    if (encoder.encode(text).length <= maxBytes) return text;
  }
  return JSON.stringify([marker(messages.length)]);
}

/** Maximum length of the role of a shortened message, in UTF-16 units. */
const MAX_ROLE_UNITS = 64;

/** A message with its role and the first bytes of its content only. */
function shorten(message: unknown, maxBytes: number): unknown {
  const member = (name: string): unknown =>
    typeof message === 'object' && message !== null ? (message as JsonObject)[name] : undefined;
  const content = member('content');
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? message);
  const role = member('role');
  return {
    role: typeof role === 'string' ? truncateUnits(role, MAX_ROLE_UNITS) : 'user',
    content: truncateText(text, maxBytes),
  };
}
