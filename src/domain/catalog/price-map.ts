import { isJsonObject, type JsonObject } from '../json-object.ts';
import { faultOf } from './declared-fields.ts';
import { isDeeperThan } from './nesting.ts';

/** Top-level keys of the price map that are not models: documentation, and rules for unknown ids. */
const NOT_MODELS: ReadonlySet<string> = new Set(['sample_spec', 'fallback_generalizations']);

/** Least number of models: a map with fewer is damaged. */
const LEAST_MODELS = 50;
/** Most models: ten times the current number. */
const MOST_MODELS = 50_000;
/** Levels of a row; the deepest real one has four. */
const MOST_LEVELS = 16;
/** A map that lost more than this share of its models at once is truncated. */
const MOST_SHRINK = 0.5;

/** A model of the price map: its id and its row. */
export type PricedModel = readonly [id: string, row: JsonObject];

/**
 * The models of a parsed price map, in its order; null when it is not an object. Values that are not objects are left
 * out.
 */
export function modelsOf(map: unknown): readonly PricedModel[] | null {
  if (!isJsonObject(map)) return null;
  return Object.entries(map).filter(
    (pair): pair is [string, JsonObject] => !NOT_MODELS.has(pair[0]) && isJsonObject(pair[1]),
  );
}

/** Why a map must not replace a catalog of `currentCount` models, as a text that may be shown; null when it may. */
export function mapFault(models: readonly PricedModel[] | null, currentCount: number): string | null {
  if (models === null) return 'the price map is not a JSON object';
  if (models.length < LEAST_MODELS) return `the price map has ${models.length} models, fewer than ${LEAST_MODELS}`;
  if (models.length > MOST_MODELS) return `the price map has ${models.length} models, more than ${MOST_MODELS}`;
  if (models.length < currentCount * MOST_SHRINK)
    return `the price map shrank from ${currentCount} to ${models.length} models`;
  for (const [id, row] of models) {
    const fault = faultOf(id, row);
    if (fault !== null) return fault;
    if (isDeeperThan(MOST_LEVELS, row))
      return `entry '${id.slice(0, 100)}': nested more than ${MOST_LEVELS} levels deep`;
  }
  return null;
}
