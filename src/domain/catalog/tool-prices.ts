import { type Rate, rateFrom } from '../money.ts';
import type { PriceRow } from './prices.ts';

/** Prices of tools that a model uses for an answer, in addition to the price of tokens; null for none. */
export interface ToolPrices {
  /** A web search, by the size of its context. */
  readonly search: Readonly<Record<'low' | 'medium' | 'high', Rate | null>>;
  /** A thousand searches in stored files. */
  readonly fileSearches: Rate | null;
  /** An answer with data of Google Maps. */
  readonly mapSearch: Rate | null;
  /** A session of the code interpreter. */
  readonly codeSession: Rate | null;
  /** A token of a citation. */
  readonly citation: Rate | null;
  /** A thousand input tokens, and a thousand output tokens, of an answer that uses the computer tool. */
  readonly computer: { readonly input: Rate | null; readonly output: Rate | null };
}

/**
 * Prices of the tools of a model; `container` is the row with the price of its provider's containers, where code runs.
 */
export function toolPricesOf(row: PriceRow, container: PriceRow | undefined): ToolPrices {
  const sizes: PriceRow = { ...objectOr(row['search_context_cost_per_query']) };
  const searchPrice = (size: string): Rate | null => rateFrom(sizes[`search_context_size_${size}`]);
  return {
    search: { low: searchPrice('low'), medium: searchPrice('medium'), high: searchPrice('high') },
    fileSearches: rateFrom(row['file_search_cost_per_1k_calls']),
    mapSearch: rateFrom(row['google_maps_grounding_cost_per_query']),
    codeSession: rateFrom(row['code_interpreter_cost_per_session'] ?? container?.['code_interpreter_cost_per_session']),
    citation: rateFrom(row['citation_cost_per_token']),
    computer: {
      input: rateFrom(row['computer_use_input_cost_per_1k_tokens']),
      output: rateFrom(row['computer_use_output_cost_per_1k_tokens']),
    },
  };
}

const objectOr = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
