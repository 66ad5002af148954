import type { Caller } from '../../domain/caller.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import { type PriceRow, tokenPricesOf } from '../../domain/catalog/prices.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { catalogEntryFor } from '../../domain/deployments/catalog-entry.ts';
import { plausibleCost } from '../../domain/inference/plausible-usage.ts';
import { addUsd, type Rate, rateFrom, type Usd, ZERO_USD } from '../../domain/money.ts';
import { addUsage, type EndedBatch } from '../../domain/upstream-objects/batch-use.ts';
import type { CallTools } from './call.ts';
import { costOf } from '../accounting/price.ts';
import { recordOf } from '../accounting/record.ts';
import { isSameUpstream } from '../routing/route.ts';

/** Maximum number of ids of recorded batches in memory. The store keeps one row per id. */
const RECORDED_LIMIT = 10_000;

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

const half = (rate: Rate | null): Rate | null => (rate === null ? null : ((rate / 2n) as Rate));

/**
 * Cost of a batch: at the catalog's batch prices, else at half of the standard prices, as the reference does. Tiers for
 * long prompts do not apply, because the tokens are the sum of many calls. Null when no price is known.
 */
function batchCostOf(row: PriceRow, usage: Usage): Usd | null {
  const plain = tokenPricesOf(row);
  const input = rateFrom(row['input_cost_per_token_batches']);
  const output = rateFrom(row['output_cost_per_token_batches']);
  // A batch price covers cached and reasoning tokens too: without a rate of their own, they cost as input or output.
  const ofKind = (rate: Rate | null): Rate | null => (input === null && output === null ? half(rate) : null);
  const base = {
    input: input ?? half(plain.input),
    output: output ?? half(plain.output),
    cacheRead: rateFrom(row['cache_read_input_token_cost_batches']) ?? ofKind(plain.cacheRead),
    cacheWrite: rateFrom(row['cache_creation_input_token_cost_batches']) ?? ofKind(plain.cacheWrite),
    reasoning: ofKind(plain.reasoning),
  };
  return costOf({ base, tiers: [], boundIncluded: false, perRequest: null, pricedUpTo: null }, usage);
}

/** The deployment whose price applies: that of the model that the batch reports, at the same upstream account. */
function pricedAs(deployment: Deployment, model: string | null, deployments: readonly Deployment[]): Deployment {
  // Upstreams report the exact version of a model, which starts with its name.
  if (model === null || model.startsWith(deployment.upstreamModel)) return deployment;
  const named = deployments.find((one) => one.upstreamModel === model && isSameUpstream(one, deployment));
  if (named !== undefined) return named;
  const { modelGroup, baseModel, priceOverrides } = deployment;
  const other = { ...deployment, upstreamModel: model, baseModel: null, priceOverrides: {} };
  if (deployment.provider !== 'azure') return { ...other, modelGroup: model };
  // An Azure deployment name is chosen by its owner and does not identify a model.
  const isPriced = baseModel !== null || Object.keys(priceOverrides).length > 0;
  return isPriced ? deployment : { ...other, modelGroup };
}

/** Facts that the cost of a batch depends on. */
interface BatchPrices {
  readonly catalog: () => CatalogSnapshot;
  /** A cost with the discount and the margin of its provider. */
  readonly adjusted: (cost: Usd, provider: string) => Usd;
}

/** Records a finished batch for its owner. Idempotent: the row id is the id of the batch. */
export function createBatchRecorder(
  { recorder, budgets }: Pick<CallTools, 'recorder' | 'budgets'>,
  deployments: () => readonly Deployment[],
  { catalog, adjusted }: BatchPrices,
): (batch: EndedBatch) => void {
  /** Ids of batches whose cost was charged in this process: two concurrent reads of a batch may both see its end. */
  const recorded = new Set<string>();
  return (batch) => {
    if (recorded.has(batch.id)) return;
    if (recorded.size >= RECORDED_LIMIT) recorded.clear();
    recorded.add(batch.id);
    const { id, owner, uses, createdAt, endedAt, labels } = batch;
    const snapshot = catalog();
    const pricedUses = uses.map(({ model, usage }) => {
      const deployment = pricedAs(batch.deployment, model, deployments());
      const cost = batchCostOf({ ...catalogEntryFor(deployment, snapshot)?.row, ...deployment.priceOverrides }, usage);
      return { deployment, cost: cost === null ? null : adjusted(cost, deployment.provider) };
    });
    const usage = uses.map((one) => one.usage).reduce(addUsage, NO_USAGE);
    const costs = pricedUses.flatMap((one) => (one.cost === null ? [] : [one.cost]));
    const cost = plausibleCost(costs.length === pricedUses.length ? costs.reduce(addUsd, ZERO_USD) : null);
    const deployment = pricedUses[0]?.deployment ?? batch.deployment;
    const caller: Caller = { ...owner, role: 'internal_user', key: null, userId: null };
    const traceId = id.replace(/^batch_/, '');
    const windows = budgets.windowsOf(null, { deployment, model: deployment.modelGroup });
    recorder.record(
      recordOf({
        rowId: id,
        callId: id,
        traceId,
        spanId: traceId.slice(0, 16),
        caller,
        request: {
          endpoint: { operation: 'batches.end', callType: 'aretrieve_batch' },
          model: deployment.modelGroup,
          body: {},
          callId: id,
          parent: null,
          ...(labels === undefined ? {} : { labels }),
        },
        deployment,
        startedAt: createdAt,
        durationMs: Math.max(0, endedAt.getTime() - createdAt.getTime()),
        firstByteMs: null,
        outcome: {
          responseId: id,
          responseModel: uses[0]?.model ?? null,
          finishReason: null,
          usage,
          failure: null,
          text: null,
        },
        cost,
        end: 'completed',
        failure: null,
        capturePrompts: false,
        resendCount: 0,
        guard: null,
        windows,
      }),
    );
    const { keyHash, teamId } = owner;
    if (cost !== null)
      budgets.charge({ keyHash, teamId, userId: null, organizationId: null, projectId: null }, cost, {
        labels,
        windows,
      });
  };
}
