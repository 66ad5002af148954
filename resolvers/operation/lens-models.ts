import type { JsonObject } from '../../src/domain/json-object.ts';
import { deploymentsFor } from '../../src/domain/deployments/team-models.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import { catalogEntryFor } from '../../src/domain/deployments/catalog-entry.ts';
import { withConfiguredPrices } from '../../src/domain/deployments/priced-row.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { Conflict, InvalidInput, Unauthenticated } from '../../src/domain/errors.ts';
import { mayCall, type VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../src/domain/money.ts';
import { priceUsage } from '../../src/domain/spend/priced-usage.ts';
import { workerOf } from './lens-claims.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Maximum output tokens of one answer in an analysis. */
const MAX_OUTPUT_TOKENS = 8_192;

/**
 * Deployments of a public model name; those of matching wildcards when no deployment has exactly this name. Deployments
 * of teams are left out.
 */
function deploymentsOf({ platform }: Scope<LensPlatform>, model: string): readonly Deployment[] {
  const all = deploymentsFor(null, platform.gateway.deployments());
  const exact = all.filter(({ modelGroup }) => modelGroup === model);
  if (exact.length > 0) return exact;
  return all.flatMap((one) => {
    const { modelGroup } = one;
    if (!modelGroup.endsWith('*') || !model.startsWith(modelGroup.slice(0, -1))) return [];
    const matched = model.slice(modelGroup.length - 1);
    return [{ ...one, upstreamModel: one.upstreamModel.replace('*', () => matched) }];
  });
}

/** A deployment with prices and limits from the catalog and the configuration. */
interface AnalysisModel {
  /** The row of the catalog. Prices of the configuration replace those of the catalog. */
  readonly row: JsonObject;
  /** Whether no price is known or expected, as for a self-hosted server that no catalog lists. */
  readonly isUnpriced: boolean;
}

function modelsOf(scope: Scope<LensPlatform>, model: string): readonly AnalysisModel[] {
  const catalog = scope.platform.catalog.current();
  return deploymentsOf(scope, model).map((deployment) => {
    const entry = catalogEntryFor(deployment, catalog);
    const row = withConfiguredPrices(entry?.row, deployment.priceOverrides);
    const hasPrice = Object.keys(row).some((name) => name.includes('_cost_per_'));
    return { row, isUnpriced: entry === null && !hasPrice && deployment.apiBase !== null };
  });
}

const usageOf = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

/** The first positive number among the named members of a row; null without one. */
const numberIn = (row: AnalysisModel['row'], ...names: readonly string[]): number | null => {
  const found = names.map((name) => row[name]).find((value) => typeof value === 'number' && value > 0);
  return typeof found === 'number' ? found : null;
};

/** Lowest output limit of the deployments of a model, in tokens, at most `MAX_OUTPUT_TOKENS`. */
export const outputTokensOf = (scope: Scope<LensPlatform>, model: string): number =>
  Math.min(
    MAX_OUTPUT_TOKENS,
    ...modelsOf(scope, model).map(({ row }) => numberIn(row, 'max_output_tokens', 'max_tokens') ?? MAX_OUTPUT_TOKENS),
  );

/**
 * Whether every deployment of a model supports answers that follow a JSON schema. Unknown support counts as support.
 */
export const followsSchema = (scope: Scope<LensPlatform>, model: string): boolean =>
  modelsOf(scope, model).every(
    ({ row }) => row['supports_response_schema'] === true || row['supports_response_schema'] === undefined,
  );

/** Whether a prompt exceeds the context window of every deployment. A window of unknown size is never exceeded. */
export const exceedsContext = (scope: Scope<LensPlatform>, model: string, promptTokens: number): boolean => {
  const windows = modelsOf(scope, model).map(({ row }) => numberIn(row, 'max_input_tokens') ?? Infinity);
  return windows.length > 0 && windows.every((window) => promptTokens > window);
};

const unpriced = (model: string): InvalidInput =>
  new InvalidInput(
    `Pricing is not configured for ${model}. Set input_cost_per_token and output_cost_per_token of the model before it is used for analysis.`,
  );

/**
 * Highest cost of one call over the deployments of a model. Unpriced deployments cost zero. Throws InvalidInput when
 * the price of another deployment is unknown.
 */
export function maxCallCost(
  scope: Scope<LensPlatform>,
  model: string,
  tokens: { readonly input: number; readonly output: number },
): Usd {
  const costs = modelsOf(scope, model).map(({ row, isUnpriced }) => {
    if (isUnpriced) return ZERO_USD;
    const priced = priceUsage(row, usageOf(tokens.input, tokens.output));
    if (priced === null) throw unpriced(model);
    return priced.total;
  });
  return costs.reduce((max, cost) => (cost > max ? cost : max), ZERO_USD);
}

/** Whether a deployment has this public model name, exactly or by a wildcard. */
export const isConfigured = (scope: Scope<LensPlatform>, model: string): boolean =>
  deploymentsOf(scope, model).length > 0;

/** Throws InvalidInput for a model that is not configured, and what `maxCallCost` throws. */
export function assertAnalysisModel(scope: Scope<LensPlatform>, model: string): void {
  if (deploymentsOf(scope, model).length === 0)
    throw new InvalidInput('Choose a model configured on this LiteLLM instance');
  // Throws for an unknown price. The number of tokens does not matter.
  maxCallCost(scope, model, { input: 1, output: 1 });
}

/** The caller that a key for analysis authenticates, with the key's access groups. Null when the key cannot be used. */
async function payerOfKey({ platform }: Scope<LensPlatform>, key: VirtualKey): Promise<Caller | null> {
  if (key.deletedAt !== null) return null;
  const { role, hash: keyHash, teamId, userId } = key;
  try {
    return await platform.keyRing.current({ role, keyHash, key, teamId, userId });
  } catch (error) {
    if (error instanceof Unauthenticated) return null;
    throw error;
  }
}

/** Whether one of the keys may call a model, by name or by access group. */
export async function canAnyPay(
  scope: Scope<LensPlatform>,
  keys: readonly VirtualKey[],
  model: string,
): Promise<boolean> {
  for (const key of keys) {
    const payer = await payerOfKey(scope, key);
    if (payer !== null && mayCall(payer.key, model)) return true;
  }
  return false;
}

/** Throws InvalidInput when workers with keys exist, and none of their keys may call the model. */
export async function assertWorkerFor(scope: Scope<LensPlatform>, model: string): Promise<void> {
  const { stores } = scope.platform;
  const workers = (await stores.lensWorkers.all({ tokenHash: null })).filter(({ revoked }) => !revoked);
  const ids = workers.flatMap(({ analysisKeyId }) => analysisKeyId ?? []);
  if (ids.length === 0) return;
  const keys = await stores.keys.findMany(ids);
  if (keys.length === 0 || (await canAnyPay(scope, keys, model))) return;
  throw new InvalidInput(
    `No worker can use this analysis model. Allow ${model} for the analysis key of a worker, or register another worker.`,
  );
}

/** The key that pays for a worker, as a caller with its current rights. Throws Conflict when the key cannot be used. */
export async function payerOf(scope: Scope<LensPlatform>): Promise<Caller> {
  const { analysisKeyId } = workerOf(scope);
  const [key] = analysisKeyId === null ? [] : await scope.platform.stores.keys.findMany([analysisKeyId]);
  const payer = key === undefined ? null : await payerOfKey(scope, key);
  if (payer === null) throw new Conflict('Assign an analysis key to this worker in Lens setup');
  return payer;
}
