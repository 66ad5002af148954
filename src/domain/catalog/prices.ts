import { rateFrom } from '../money.ts';
import type { TokenPrices } from './catalog.ts';

/** What a token costs by a row of the price map, or by any row that uses its keys. */
export function tokenPricesOf(row: Readonly<Record<string, unknown>>): TokenPrices {
  return {
    input: rateFrom(row['input_cost_per_token']),
    output: rateFrom(row['output_cost_per_token']),
    cacheRead: rateFrom(row['cache_read_input_token_cost']),
    cacheWrite: rateFrom(row['cache_creation_input_token_cost']),
    reasoning: rateFrom(row['output_cost_per_reasoning_token']),
  };
}
