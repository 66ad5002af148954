import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { pricedRow } from '../../domain/deployments/priced-row.ts';
import { rateFrom } from '../../domain/money.ts';

/** Facts of a deployment from its settings and the catalog. */
export interface CatalogFacts {
  /** Price of an input and an output token together, in attodollars. */
  readonly price: bigint;
  /** Context window in tokens; null where it is not known. */
  readonly maxInputTokens: number | null;
  /** Whether answers can follow a JSON schema, where it is known; true where it is not. */
  readonly takesSchemas: boolean;
}

/** Price of a token, in USD, where it is not known: such a deployment comes last. */
const UNKNOWN_PRICE = 5;

/** Reads facts of deployments, once for each snapshot of the catalog. */
export function createCatalogFacts(catalog: () => CatalogSnapshot): (deployment: Deployment) => CatalogFacts {
  const known = new WeakMap<Deployment, { readonly snapshot: CatalogSnapshot; readonly facts: CatalogFacts }>();
  return (deployment) => {
    const snapshot = catalog();
    const found = known.get(deployment);
    if (found?.snapshot === snapshot) return found.facts;
    const facts = factsOf(deployment, snapshot);
    known.set(deployment, { snapshot, facts });
    return facts;
  };
}

function factsOf(deployment: Deployment, snapshot: CatalogSnapshot): CatalogFacts {
  const row = pricedRow(deployment, snapshot);
  const priceOf = (name: string): bigint => rateFrom(row[name]) ?? rateFrom(UNKNOWN_PRICE) ?? 0n;
  const size = Number(row['max_input_tokens'] ?? row['max_tokens'] ?? Number.NaN);
  return {
    price: priceOf('input_cost_per_token') + priceOf('output_cost_per_token'),
    maxInputTokens: deployment.selection?.maxInputTokens ?? (Number.isFinite(size) ? size : null),
    takesSchemas: row['supports_response_schema'] !== false,
  };
}
