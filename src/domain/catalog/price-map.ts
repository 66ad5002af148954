import { isJsonObject, type JsonObject } from '../json-object.ts';
import { rowFault } from './declared-fields.ts';
import { isDeeperThan } from './nesting.ts';

/** Top-level keys of the price map that are not models: documentation, and rules for unknown ids. */
const NOT_MODELS: ReadonlySet<string> = new Set(['sample_spec', 'fallback_generalizations']);

/** Minimum number of models: a map with fewer is treated as damaged. */
const MIN_MODELS = 50;
/** Maximum number of models: about ten times the number in the published map. */
const MAX_MODELS = 50_000;
/** Maximum nesting of a row. Rows of the published map have at most four levels. */
const MAX_LEVELS = 16;
/** A map with less than this share of the current models is treated as truncated. */
const MIN_REMAINING_SHARE = 0.5;

/** A model of the price map: its id and its row. */
export type PricedModel = readonly [id: string, row: JsonObject];

/**
 * The models of a parsed price map, in the order of the map. Null for a map that is not an object. `NOT_MODELS`, and
 * values that are not objects, are left out.
 */
export function modelsOfMap(map: unknown): readonly PricedModel[] | null {
  if (!isJsonObject(map)) return null;
  return Object.entries(map).filter(
    (pair): pair is [string, JsonObject] => !NOT_MODELS.has(pair[0]) && isJsonObject(pair[1]),
  );
}

/** Why a map must not replace a catalog of `currentCount` models, as a text that may be shown; null when it may. */
export function mapFault(models: readonly PricedModel[] | null, currentCount: number): string | null {
  if (models === null) return 'the price map is not a JSON object';
  if (models.length < MIN_MODELS) return `the price map has ${models.length} models, fewer than ${MIN_MODELS}`;
  if (models.length > MAX_MODELS) return `the price map has ${models.length} models, more than ${MAX_MODELS}`;
  if (models.length < currentCount * MIN_REMAINING_SHARE)
    return `the price map shrank from ${currentCount} to ${models.length} models`;
  for (const [id, row] of models) {
    const fault = rowFault(id, row);
    if (fault !== null) return fault;
    if (isDeeperThan(MAX_LEVELS, row)) return `entry '${id.slice(0, 100)}': nested more than ${MAX_LEVELS} levels deep`;
  }
  return null;
}
