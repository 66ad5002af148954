import type { JsonObject } from '../json-object.ts';
import { type Rate, rateFrom } from '../money.ts';
import { sameValue } from './same-value.ts';

/** Why a price is quarantined. `absurd`: too high for one token. `crosses_zero`: changed to or from zero. */
type HoldReason = 'not_a_number' | 'negative' | 'absurd' | 'crosses_zero' | 'ten_fold';

/** A price of the price map that is not served until an administrator releases it or the map changes it. */
export interface QuarantinedPrice {
  /** Id of the entry, the field and the value together: another value of the field has another id. */
  readonly id: string;
  readonly entryId: string;
  /** Key in the row. For a nested price, it is the outermost key, whose value is quarantined as a whole. */
  readonly field: string;
  /** The quarantined value, as in the price map. */
  readonly value: unknown;
  /** The last accepted value, which is served instead; undefined when the field is served as absent. */
  readonly served: unknown;
  readonly reason: HoldReason;
  /** When this value was first quarantined. */
  readonly since: Date;
}

/** A quarantined field of a row, before it has an id and a time. */
export type QuarantinedValue = Pick<QuarantinedPrice, 'entryId' | 'field' | 'value' | 'served' | 'reason'>;

/** The served part of a row, and its quarantined fields. */
export interface QuarantinedRow {
  readonly row: JsonObject;
  readonly quarantined: readonly QuarantinedValue[];
}

/**
 * A higher price per token is treated as a mistake: as a price per thousand or per million tokens. The highest real
 * price is 0.0006 USD.
 */
const MAX_USD_PER_TOKEN = 0.001;
const MAX_PER_TOKEN = rateFrom(MAX_USD_PER_TOKEN) ?? 0n;
/** A price that changes by this factor in one step is treated as a unit mistake, or its correction. */
const SUSPECT_FACTOR = 10n;
/**
 * A price that changes by less than this factor is valid. Smaller than `SUSPECT_FACTOR`, because floats are inexact.
 */
const CLEARLY_VALID_FACTOR = 9;

/** Whether the value of a key is a price, or contains prices. */
const isPriced = (key: string): boolean => key.includes('cost') || key.includes('pricing');

/** The lower bound of a tier in a key. The word `tokens` in it is not the unit of the price. */
const TIER_BOUND = /_above_\d+k_tokens/g;

/** Whether a key is a price per token in USD. Prices in DBU, the billing unit of Databricks, are not. */
const isPerToken = (key: string): boolean => key.replace(TIER_BOUND, '').includes('token') && !key.includes('dbu');

/** One price within a field: its path, its value, and whether it is a price per token. */
interface Leaf {
  readonly place: string;
  readonly value: unknown;
  readonly perToken: boolean;
}

/** Every price in a field. A nested number is a price if its key or an outer key contains `cost`. */
function leavesOf(key: string, value: unknown, place = '', priced = false): readonly Leaf[] {
  const isPrice = priced || key.includes('cost');
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item, at) => leavesOf(key, item, `${place}[${at}]`, isPrice));
  if (typeof value === 'object')
    return Object.entries(value).flatMap(([inner, item]) => leavesOf(inner, item, `${place}.${inner}`, isPrice));
  return isPrice ? [{ place, value, perToken: isPerToken(key) }] : [];
}

function faultOfChange(now: Rate, before: Rate): HoldReason | null {
  if (now === before) return null;
  if (now === 0n || before === 0n) return 'crosses_zero';
  return now >= before * SUSPECT_FACTOR || now * SUSPECT_FACTOR <= before ? 'ten_fold' : null;
}

function faultOfLeaf({ value, perToken }: Leaf, before: Rate | null): HoldReason | null {
  const now = rateFrom(value);
  if (now === null) return 'not_a_number';
  if (now < 0n) return 'negative';
  const change = before === null ? null : faultOfChange(now, before);
  if (change !== null) return change;
  return perToken && now > MAX_PER_TOKEN ? 'absurd' : null;
}

/**
 * Why the value of a field must not be served; null when it may. `accepted` is the last accepted value, undefined for
 * none.
 */
function faultOf(field: string, value: unknown, accepted: unknown): HoldReason | null {
  const before = new Map(leavesOf(field, accepted).map((leaf) => [leaf.place, rateFrom(leaf.value)]));
  for (const leaf of leavesOf(field, value)) {
    const fault = faultOfLeaf(leaf, before.get(leaf.place) ?? null);
    if (fault !== null) return fault;
  }
  return null;
}

/**
 * Cheap check that spares most fields the exact check of `faultOf`. It is true for a number that is not too high for a
 * price, and near the last accepted value if there is one.
 */
function isClearlyValid(field: string, value: unknown, accepted: unknown): boolean {
  if (value === accepted) return true;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return false;
  if (value > MAX_USD_PER_TOKEN && isPerToken(field)) return false;
  if (accepted === undefined) return true;
  if (typeof accepted !== 'number' || value === 0 || accepted <= 0) return false;
  return value < accepted * CLEARLY_VALID_FACTOR && value * CLEARLY_VALID_FACTOR > accepted;
}

/**
 * Quarantines prices that are probably mistakes. These are prices that are negative, not a number, or too high for one
 * token. They are also prices that changed ten-fold or more, or to or from zero, since the last accepted value. Instead
 * of a quarantined price, the last accepted value is served, or no value where none was accepted. A value that was
 * accepted or released before is served.
 */
export function quarantineRow(
  entryId: string,
  row: JsonObject,
  accepted: JsonObject | null,
  isReleased: (field: string, value: unknown) => boolean,
): QuarantinedRow {
  const quarantined: QuarantinedValue[] = [];
  for (const field in row) {
    const value = row[field];
    const served = accepted?.[field];
    if (!isPriced(field) || isClearlyValid(field, value, served) || sameValue(value, served)) continue;
    const reason = faultOf(field, value, served);
    if (reason !== null && !isReleased(field, value)) quarantined.push({ entryId, field, value, served, reason });
  }
  return quarantined.length === 0 ? { row, quarantined } : { row: withServedValues(row, quarantined), quarantined };
}

/** A row with the served values of its quarantined fields. */
export function withServedValues(
  row: JsonObject,
  quarantined: readonly Pick<QuarantinedValue, 'field' | 'served'>[],
): JsonObject {
  const servedByField = new Map(quarantined.map(({ field, served }) => [field, served]));
  const fields = Object.entries(row).map(
    ([key, value]) => [key, servedByField.has(key) ? servedByField.get(key) : value] as const,
  );
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
