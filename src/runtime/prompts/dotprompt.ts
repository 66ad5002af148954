import { parse } from 'yaml';
import { InvalidInput } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { ParsedPrompt } from '../../domain/prompts/prompt.ts';
import { MAX_TEMPLATE_CHARACTERS, sectionsOf } from '../../domain/prompts/template.ts';

/** The front matter between two lines of three dashes, and the rest of the template. */
const FRONT_MATTER = /^\uFEFF?\s*---[ \t]*\r?\n([\s\S]*?)(?<=\n)---[ \t]*(?:\r?\n|$)([\s\S]*)$/;

/** Maximum number of characters of a front matter. Parsing a long one would delay all calls on this thread. */
const MAX_FRONT_MATTER_CHARACTERS = 16_384;

function metadataOf(text: string): JsonObject {
  if (text.length > MAX_FRONT_MATTER_CHARACTERS)
    throw new InvalidInput(`The front matter of the template has more than ${MAX_FRONT_MATTER_CHARACTERS} characters.`);
  let value: unknown;
  try {
    // Aliases are refused: with them, a short text could expand to a large value. Duplicate keys are accepted, and the
    // last one counts. A check for them would take a time that is quadratic in the number of keys.
    value = parse(text, { maxAliasCount: 0, schema: 'core', uniqueKeys: false });
  } catch {
    throw new InvalidInput('The front matter of the template is not valid YAML.');
  }
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) throw new InvalidInput('The front matter of the template must be a map.');
  // Only JSON values are returned. Keys become texts, and values that JSON does not have become null or are left out.
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** Parses a template in the dotprompt format: YAML front matter, then messages. Throws InvalidInput. */
export function parseDotprompt(source: string): ParsedPrompt {
  if (source.length > MAX_TEMPLATE_CHARACTERS)
    throw new InvalidInput(`The template has more than ${MAX_TEMPLATE_CHARACTERS} characters.`);
  const match = FRONT_MATTER.exec(source);
  const content = (match?.[2] ?? source).replaceAll('\r\n', '\n').trim();
  return { content, metadata: metadataOf(match?.[1] ?? ''), sections: sectionsOf(content) };
}
