import type { JsonObject } from '../json-object.ts';

const PRICE = /_cost(_|$)|^tiered_pricing$/;

/** Whether a member of a deployment is a price, by its name in the price map. */
export const isPriceField = (name: string): boolean => PRICE.test(name);

/** The members that are prices, and are not null. */
const pricesIn = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([name, value]) => isPriceField(name) && value !== null));

/**
 * Prices of a deployment's own, by name: those of its parameters, and those of its `model_info`. A `model_info` with a
 * `key` is the echo of an answer: its prices are those of the price map at that time, and do not count.
 */
export const ownPrices = (params: JsonObject, info: JsonObject): JsonObject => ({
  ...(Object.hasOwn(info, 'key') ? {} : pricesIn(info)),
  ...pricesIn(params),
});
