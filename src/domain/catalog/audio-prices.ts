import { type Rate, rateFrom } from '../money.ts';
import type { PriceRow } from './prices.ts';

/** Prices of audio tokens; null where the general token price applies. */
export interface AudioPrices {
  readonly input: Rate | null;
  readonly output: Rate | null;
  readonly cacheRead: Rate | null;
}

/** A kind of tokens without separate prices, also for image and video tokens. */
export const NO_OWN_PRICES: AudioPrices = { input: null, output: null, cacheRead: null };

export const audioPricesOf = (row: PriceRow): AudioPrices => ({
  input: rateFrom(row['input_cost_per_audio_token']),
  output: rateFrom(row['output_cost_per_audio_token']),
  // The price map has the price of cached audio under one of these keys. The second key does not stand for cache
  // writes: no vendor bills them for audio.
  cacheRead: rateFrom(row['cache_read_input_audio_token_cost'] ?? row['cache_creation_input_audio_token_cost']),
});
