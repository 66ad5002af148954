import type { JsonObject } from '../json-object.ts';

const PRICE = /_cost(_|$)|^tiered_pricing$/;

/** Whether a member of a deployment is a price: its name is a price key of the price map. */
export const isPriceField = (name: string): boolean => PRICE.test(name);

/** The members that are prices, and are not null. */
const pricesIn = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([name, value]) => isPriceField(name) && value !== null));

/**
 * Configured prices of a deployment, by name, from its parameters and its `model_info`. A `model_info` with a `key` is
 * part of an answer of this server that a client sent back. Its prices come from the price map and are ignored.
 */
export const ownPrices = (params: JsonObject, info: JsonObject): JsonObject => ({
  ...(Object.hasOwn(info, 'key') ? {} : pricesIn(info)),
  ...pricesIn(params),
});
