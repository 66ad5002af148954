import type { JsonObject } from '../json-object.ts';

/** Members of `litellm_params` that are numbers: prices and limits of an agent. */
const NUMBERS = [
  'cost_per_query',
  'input_cost_per_token',
  'output_cost_per_token',
  'max_iterations',
  'max_budget_per_session',
  'timeout',
] as const;

/** A number of an agent, which may be a text: variables of the environment are texts. Null for none. */
export function numberIn(params: JsonObject, name: (typeof NUMBERS)[number]): number | null {
  const value = params[name];
  const isText = typeof value === 'string' && value.trim() !== '';
  const number = typeof value === 'number' || isText ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number >= 0 ? number : null;
}

/** Why prices and limits are wrong, with the name of the member; null when they are not. */
export function paramsFault(params: JsonObject): string | null {
  const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';
  const wrong = NUMBERS.find((name) => !isAbsent(params[name]) && numberIn(params, name) === null);
  return wrong === undefined ? null : `${wrong} must be a number that is not negative`;
}
