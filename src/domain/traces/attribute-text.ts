import type { Attributes, AttributeValue } from './span.ts';
import { truncateText } from './truncate.ts';

/**
 * An attribute value as text: strings as they are, bytes read as UTF-8, everything else as compact JSON, an absent
 * value as `null`. NaN and infinite numbers are written as in JavaScript; inside lists and objects they are in quotes.
 */
export function attributeText(value: AttributeValue): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  return value instanceof Uint8Array ? utf8(value) : compactJson(value);
}

/** The text under a key, or empty text when there is none. */
export function textAt(attributes: Attributes, key: string): string {
  const value = attributes[key];
  return value === undefined || value === null ? '' : attributeText(value);
}

/** The first text that is not empty, and the key it is under. */
export function firstText(attributes: Attributes, keys: readonly string[]): { key: string; text: string } | null {
  for (const key of keys) {
    const text = textAt(attributes, key);
    if (text !== '') return { key, text };
  }
  return null;
}

/**
 * Every attribute as text, cut by `truncateText` to `maxBytes`. The keys in `lifted`, whose values are stored as input
 * or output, are left out.
 */
export function attributeTexts(
  attributes: Attributes,
  lifted: readonly string[],
  maxBytes: number,
): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const key of Object.keys(attributes)) {
    if (lifted.includes(key)) continue;
    const text = truncateText(attributeText(attributes[key] ?? null), maxBytes);
    if (key !== '__proto__') texts[key] = text;
    // Plain assignment would change the prototype instead.
    else Object.defineProperty(texts, key, { value: text, enumerable: true, configurable: true, writable: true });
  }
  return texts;
}

function compactJson(value: AttributeValue): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : JSON.stringify(String(value));
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return JSON.stringify(utf8(value));
  if (isList(value)) return `[${value.map(compactJson).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${compactJson(member)}`)
    .join(',')}}`;
}

const isList = (value: AttributeValue): value is readonly AttributeValue[] => Array.isArray(value);

const decoder = new TextDecoder();
const utf8 = (bytes: Uint8Array): string => decoder.decode(bytes);
