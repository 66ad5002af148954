import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { pricedRow } from '../../domain/deployments/priced-row.ts';
import { rateFrom } from '../../domain/money.ts';

/** Facts of a deployment, from its settings and the catalog. */
export interface CatalogFacts {
  /** Sum of the prices of an input token and an output token, in attodollars. */
  readonly price: bigint;
  /** Context window in tokens; null if unknown. */
  readonly maxInputTokens: number | null;
  /** Whether answers can follow a JSON schema, where it is known; true where it is not. */
  readonly takesSchemas: boolean;
}

/** Price of a token whose price is unknown, in USD. It is high, so that the deployment comes last. */
const UNKNOWN_TOKEN_PRICE = 5;

/** Creates a function that reads facts of a deployment. They are cached until the next snapshot of the catalog. */
export function createCatalogFacts(catalog: () => CatalogSnapshot): (deployment: Deployment) => CatalogFacts {
  const cache = new WeakMap<Deployment, { readonly snapshot: CatalogSnapshot; readonly facts: CatalogFacts }>();
  return (deployment) => {
    const snapshot = catalog();
    const found = cache.get(deployment);
    if (found?.snapshot === snapshot) return found.facts;
    const facts = factsOf(deployment, snapshot);
    cache.set(deployment, { snapshot, facts });
    return facts;
  };
}

function factsOf(deployment: Deployment, snapshot: CatalogSnapshot): CatalogFacts {
  const row = pricedRow(deployment, snapshot);
  const priceOf = (name: string): bigint => rateFrom(row[name]) ?? rateFrom(UNKNOWN_TOKEN_PRICE) ?? 0n;
  const window = Number(row['max_input_tokens'] ?? row['max_tokens'] ?? Number.NaN);
  return {
    price: priceOf('input_cost_per_token') + priceOf('output_cost_per_token'),
    maxInputTokens: deployment.selection?.maxInputTokens ?? (Number.isFinite(window) ? window : null),
    takesSchemas: row['supports_response_schema'] !== false,
  };
}
