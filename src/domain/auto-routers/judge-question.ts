import type { JsonObject } from '../json-object.ts';
import type { Judge, JudgeFormat } from './auto-router.ts';
import type { Tier } from './tiers.ts';

/** The messages of a judge call, and how its answer is read. */
export interface JudgeQuestion<Verdict> {
  readonly judge: Judge;
  /** System text. */
  readonly system: string;
  /** Turns after the system text. Images are only in the last one. */
  readonly turns: readonly string[];
  readonly maxTokens: number;
  readonly format: JudgeFormat;
  /** Name and schema of the answer. */
  readonly schema: { readonly name: string; readonly schema: JsonObject };
  /** Reads an answer; null for one that is not valid. */
  read(answer: string): Verdict | null;
}

/** A tier that a judge selected. */
export interface JudgedTier {
  readonly tier: Tier;
  readonly signals: readonly string[];
  /** Forecast probability that the tier solves the task; absent where the judge forecasts none. */
  readonly probability?: number;
}

/** Maximum length of the texts in a judge call, in characters. The start and the end of a longer text are sent. */
const MOST_CHARACTERS = 24_000;

/** A text with its middle left out, where it is longer than `most` characters. */
export function shortened(text: string, most = MOST_CHARACTERS): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
}

/** An object with only required members. */
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

/** The system text. With `json_object` it contains the schema. */
export const systemTextOf = ({ system, format, schema }: JudgeQuestion<unknown>): string =>
  format === 'json_schema' ? system : `${system}\n\nJSON Schema of the answer:\n${JSON.stringify(schema.schema)}`;
