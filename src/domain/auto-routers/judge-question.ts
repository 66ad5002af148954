import type { JsonObject } from '../json-object.ts';
import type { Judge, JudgeFormat } from './auto-router.ts';
import type { Tier } from './tiers.ts';

/** The content of a judge call, and the reader of its answer. */
export interface JudgeQuestion<Verdict> {
  readonly judge: Judge;
  /** Text of the system message. */
  readonly system: string;
  /** Texts of the user messages after the system message. */
  readonly turns: readonly string[];
  /** Maximum number of tokens of the answer. */
  readonly maxTokens: number;
  readonly format: JudgeFormat;
  /** Name and JSON Schema of the answer. */
  readonly schema: { readonly name: string; readonly schema: JsonObject };
  /** The verdict in the text of an answer; null for an answer in another format. */
  read(answer: string): Verdict | null;
}

/** A tier that a judge selected. */
export interface JudgedTier {
  readonly tier: Tier;
  readonly signals: readonly string[];
  /** Forecast probability that the tier solves the task; absent where the judge forecasts none. */
  readonly probability?: number;
}

/** Default of `maxCharacters`: maximum length of a text in a judge call. */
const MAX_CHARACTERS = 24_000;

/**
 * Returns a text of up to `maxCharacters` unchanged. Of a longer text, keeps half of `maxCharacters` from each end,
 * with a mark in place of the middle.
 */
export function shortened(text: string, maxCharacters = MAX_CHARACTERS): string {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor(maxCharacters / 2);
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
}

/** JSON Schema of an object that has all of `properties` and no other members. */
export const closedObject = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** The `response_format` of a judge call. */
export const responseFormatOf = ({ format, schema }: JudgeQuestion<unknown>): JsonObject =>
  format === 'json_schema'
    ? { type: 'json_schema', json_schema: { name: schema.name, strict: true, schema: schema.schema } }
    : { type: 'json_object' };

/** Text of the system message. With `json_object`, the schema is appended, because `response_format` has none. */
export const systemTextOf = ({ system, format, schema }: JudgeQuestion<unknown>): string =>
  format === 'json_schema' ? system : `${system}\n\nJSON Schema of the answer:\n${JSON.stringify(schema.schema)}`;
