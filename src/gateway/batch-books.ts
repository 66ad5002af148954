import type { Caller } from '../domain/caller.ts';
import type { CatalogSnapshot } from '../domain/catalog/catalog.ts';
import { type PriceRow, tokenPricesOf } from '../domain/catalog/prices.ts';
import type { Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { entryFor } from '../domain/deployments/priced-by.ts';
import { addUsd, type Rate, rateFrom, type Usd, ZERO_USD } from '../domain/money.ts';
import { addUsage, type EndedBatch } from '../domain/upstream-objects/batch-use.ts';
import type { CallTools } from './call.ts';
import { costOf } from './price.ts';
import { recordOf } from './record.ts';
import { isSameUpstream } from './route.ts';

/** Batches of which this process remembers that they are booked; the store knows of all. */
const BOOKED_LIMIT = 10_000;

const NOTHING: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

const half = (rate: Rate | null): Rate | null => (rate === null ? null : ((rate / 2n) as Rate));

/**
 * What a batch costs: at the map's prices for batches, else at half of the plain ones, as the reference has it. Its tokens are
 * those of many calls, so no price of long calls holds. Null where no price is known.
 */
function batchCostOf(row: PriceRow, usage: Usage): Usd | null {
  const plain = tokenPricesOf(row);
  const input = rateFrom(row['input_cost_per_token_batches']);
  const output = rateFrom(row['output_cost_per_token_batches']);
  // Who sets prices for batches sets them for every token of a kind.
  const ofKind = (rate: Rate | null): Rate | null => (input === null && output === null ? half(rate) : null);
  const base = {
    input: input ?? half(plain.input),
    output: output ?? half(plain.output),
    cacheRead: ofKind(plain.cacheRead),
    cacheWrite: ofKind(plain.cacheWrite),
    reasoning: ofKind(plain.reasoning),
  };
  return costOf({ base, tiers: [], boundIncluded: false, perRequest: null, pricedUpTo: null }, usage);
}

/** The deployment whose price holds: that of the model the batch names, at the same account. */
function pricedAs(deployment: Deployment, model: string | null, deployments: readonly Deployment[]): Deployment {
  // Upstreams name the version of a model that did it.
  if (model === null || model.startsWith(deployment.upstreamModel)) return deployment;
  const named = deployments.find((one) => one.upstreamModel === model && isSameUpstream(one, deployment));
  if (named !== undefined) return named;
  const { modelGroup, baseModel, priceOverrides } = deployment;
  const other = { ...deployment, upstreamModel: model, baseModel: null, priceOverrides: {} };
  if (deployment.provider !== 'azure') return { ...other, modelGroup: model };
  // What its owner calls a deployment there says nothing of the model in it.
  const isPriced = baseModel !== null || Object.keys(priceOverrides).length > 0;
  return isPriced ? deployment : { ...other, modelGroup };
}

/** Books a batch that has ended, under its owner: one row however often, because everything in it follows from the batch. */
export function createBatchBooks(
  { recorder, budgets }: Pick<CallTools, 'recorder' | 'budgets'>,
  deployments: readonly Deployment[],
  catalog: () => CatalogSnapshot,
): (batch: EndedBatch) => void {
  /** Those whose cost is counted here: two who look at once both see the end. */
  const booked = new Set<string>();
  return (batch) => {
    if (booked.has(batch.id)) return;
    if (booked.size >= BOOKED_LIMIT) booked.clear();
    booked.add(batch.id);
    const { id, owner, uses, createdAt, endedAt } = batch;
    const prices = catalog();
    const done = uses.map(({ model, usage }) => {
      const deployment = pricedAs(batch.deployment, model, deployments);
      return {
        deployment,
        cost: batchCostOf({ ...entryFor(deployment, prices)?.row, ...deployment.priceOverrides }, usage),
      };
    });
    const usage = uses.map((one) => one.usage).reduce(addUsage, NOTHING);
    const costs = done.flatMap((one) => (one.cost === null ? [] : [one.cost]));
    const cost = costs.length === done.length ? costs.reduce(addUsd, ZERO_USD) : null;
    const deployment = done[0]?.deployment ?? batch.deployment;
    const caller: Caller = { ...owner, role: 'internal_user', key: null, userId: null };
    const traceId = id.replace(/^batch_/, '');
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
      }),
    );
    if (cost !== null) budgets.charge(owner.keyHash, cost);
  };
}
