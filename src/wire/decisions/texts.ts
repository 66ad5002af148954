import { isJsonObject } from '../../domain/json-object.ts';
import type { Content, Instructions, Item, Part } from '../../domain/decisions/decision.ts';

const BLANK_LINE = '\n\n';

/**
 * JSON text with a space after commas and colons, and ASCII characters only. LiteLLM sends objects in this form. The
 * prompt cache of an upstream compares bytes, so both share its entries.
 */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (isJsonObject(value))
    return `{${Object.entries(value)
      .map(([key, inner]) => `${asciiLiteral(key)}: ${spacedJson(inner)}`)
      .join(', ')}}`;
  return typeof value === 'string' ? asciiLiteral(value) : JSON.stringify(value);
}

/** JSON string literal of a text, with ASCII characters only. */
const asciiLiteral = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Content as text. */
export const contentText = (content: Content): string =>
  typeof content === 'string' ? content : spacedJson(content.json);

/** Content as a JSON value. */
export const contentValue = (content: Content): unknown => (typeof content === 'string' ? content : content.json);

/** Joined texts of parts. Images are omitted. */
const partsText = (parts: readonly Part[]): string => parts.flatMap((part) => textOf(part) ?? []).join(BLANK_LINE);

function textOf(part: Part): string | null {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'json':
      // LiteLLM refuses JSON parts, so there are no cache entries to share, and the compact form is used.
      return JSON.stringify(part.data);
    case 'image':
      return null;
  }
}

/** Instructions as text or JSON, for a format without parts. */
export const plainInstructions = (instructions: Instructions): Content =>
  typeof instructions === 'object' && 'parts' in instructions ? partsText(instructions.parts) : instructions;

/**
 * Items as one text. Each item begins with its role in brackets, unless all roles are `user`. `imageText` returns the
 * text that replaces an image, or null to omit the image.
 */
export function itemsText(items: readonly Item[], imageText: (url: string) => string | null): string {
  const showsRoles = items.some(({ role }) => role !== 'user');
  return items
    .flatMap(({ role, content }) => {
      const pieces =
        typeof content === 'string'
          ? [content]
          : content.flatMap((part) => (part.kind === 'image' ? imageText(part.url) : textOf(part)) ?? []);
      if (!showsRoles) return pieces;
      return [`[${role}]\n${pieces.join(BLANK_LINE)}`];
    })
    .join(BLANK_LINE);
}
