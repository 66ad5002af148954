import { isJsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Answer, Box, Members } from '../../domain/decisions/decision.ts';
import { type Fields } from '../json/fields.ts';
import { InvalidAnswer } from './faults.ts';

/** An object of an upstream's answer. Throws InvalidAnswer for another value. */
export function requiredObject(value: unknown, where: string): Fields {
  if (isJsonObject(value)) return value;
  throw new InvalidAnswer(`${where} is not an object`);
}

/** A number, or a number as text, as LiteLLM accepts it. Throws InvalidAnswer. */
export function requiredNumber(value: unknown, where: string): number {
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof parsed === 'number' && Number.isFinite(parsed)) return parsed;
  throw new InvalidAnswer(`${where} is not a number`);
}

/** A string. Throws InvalidAnswer. */
export function requiredText(value: unknown, where: string): string {
  if (typeof value === 'string') return value;
  throw new InvalidAnswer(`${where} is not a string`);
}

/** A whole number from 0, for example a count of tokens. Throws InvalidAnswer. */
export function requiredCount(value: unknown, where: string): number {
  const count = requiredNumber(value, where);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new InvalidAnswer(`${where} is not a count`);
}

/** A count of tokens; 0 when absent. Throws InvalidAnswer. */
export const optionalCount = (value: unknown, where: string): number =>
  value === undefined || value === null ? 0 : requiredCount(value, where);

/** Probabilities by key. Throws InvalidAnswer. */
export const requiredNumbers = (value: unknown, where: string): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(requiredObject(value, where)).map(([key, one]) => [key, requiredNumber(one, `${where}.${key}`)]),
  );

/** Edges of a box. Throws InvalidAnswer. */
export function requiredBox(value: unknown, where: string): Box {
  const edges = requiredObject(value, where);
  const edge = (name: keyof Box): number => requiredNumber(edges[name], `${where}.${name}`);
  return { top: edge('top'), bottom: edge('bottom'), left: edge('left'), right: edge('right') };
}

/** Confidence of a box: required, but may be null. Throws InvalidAnswer. */
export function boxConfidence(answer: Fields, where: string): number | null {
  if (answer['confidence'] === null) return null;
  return requiredNumber(answer['confidence'], `${where}.confidence`);
}

/** Usage with input and output tokens only. */
export const plainUsage = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

/** Members about the source of a probability: evidence, calibration and model. Absent ones are omitted. */
export function evidenceMembers(answer: Exclude<Answer, { kind: 'refusal' }>): Members {
  const { evidence, calibration, model } = answer;
  return {
    ...(evidence === undefined ? {} : { x_probability_source: evidence.source }),
    ...(typeof evidence?.labelMass === 'number' ? { x_label_mass: evidence.labelMass } : {}),
    ...(typeof evidence?.missingBound === 'number' ? { x_missing_bound: evidence.missingBound } : {}),
    ...(calibration === undefined ? {} : { x_calibrated: true, x_temperature: calibration.temperature }),
    ...(model === undefined ? {} : { x_model: model }),
  };
}
