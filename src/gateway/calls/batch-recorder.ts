import type { BudgetWindow } from '../../domain/budgets/budget-window.ts';
import type { Caller, Owner } from '../../domain/caller.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import { type PriceRow, tokenPricesOf } from '../../domain/catalog/prices.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { catalogEntryFor } from '../../domain/deployments/catalog-entry.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { plausibleCost } from '../../domain/inference/plausible-usage.ts';
import { addUsd, type Rate, rateFrom, type Usd, ZERO_USD } from '../../domain/money.ts';
import type { BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';
import { addUsage, type EndedBatch } from '../../domain/upstream-objects/batch-use.ts';
import type { CallTools } from './call.ts';
import { costOf } from '../accounting/price.ts';
import { recordOf } from '../accounting/record.ts';
import { isSameUpstream } from '../routing/route.ts';

/** Maximum number of batch ids in memory. At the limit all are dropped; the unique row id prevents a second row. */
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
  const standard = tokenPricesOf(row);
  const input = rateFrom(row['input_cost_per_token_batches']);
  const output = rateFrom(row['output_cost_per_token_batches']);
  const hasBatchPrice = input !== null || output !== null;
  /** Rate of cached or reasoning tokens. With a batch price it is null: they cost as input or output. */
  const ofKind = (rate: Rate | null): Rate | null => (hasBatchPrice ? null : half(rate));
  const base = {
    input: input ?? half(standard.input),
    output: output ?? half(standard.output),
    cacheRead: rateFrom(row['cache_read_input_token_cost_batches']) ?? ofKind(standard.cacheRead),
    cacheWrite: rateFrom(row['cache_creation_input_token_cost_batches']) ?? ofKind(standard.cacheWrite),
    reasoning: ofKind(standard.reasoning),
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
  const reported = { ...deployment, upstreamModel: model, baseModel: null, priceOverrides: {} };
  if (deployment.provider !== 'azure') return { ...reported, modelGroup: model };
  // An Azure deployment name is chosen by its owner and does not identify a model.
  const isPriced = baseModel !== null || Object.keys(priceOverrides).length > 0;
  return isPriced ? deployment : { ...reported, modelGroup };
}

/** Facts that the cost of a batch depends on. */
interface BatchPrices {
  readonly catalog: () => CatalogSnapshot;
  /** A cost with the discount and the margin of its provider. */
  readonly adjusted: (cost: Usd, provider: string) => Usd;
}

/**
 * Reads the key that owns an object, even if it was deleted, with its `owners`. The key of a signed token is not
 * stored: the result then has only the team of the object. Null for a credential without key and team.
 */
export type KeyOfOwner = (owner: Owner) => Promise<VirtualKey | null>;

/**
 * Public name of the model of a batch, as budgets name it. A batch with calls of several models has the public name of
 * the deployment.
 */
function publicModelOf({ modelGroup }: Deployment, calls: BatchCalls = {}): string {
  const [name = modelGroup, ...others] = Object.keys(calls);
  return others.length === 0 ? name : modelGroup;
}

/** Adds the cost of one use to the windows that it counts in. `sums` has the windows of the batch by name. */
function addToWindows(sums: Map<string, CountedWindow>, windows: readonly BudgetWindow[], cost: Usd): void {
  for (const window of windows)
    sums.set(window.name, { ...window, amount: addUsd(sums.get(window.name)?.amount ?? ZERO_USD, cost) });
}

interface CountedWindow extends BudgetWindow {
  readonly amount: Usd;
}

/** Records a finished batch for its owner. Idempotent: the row id is the id of the batch. */
export function createBatchRecorder(
  { recorder, budgets }: Pick<CallTools, 'recorder' | 'budgets'>,
  deployments: () => readonly Deployment[],
  { catalog, adjusted, keyOf = () => Promise.resolve(null) }: BatchPrices & { readonly keyOf?: KeyOfOwner | undefined },
): (batch: EndedBatch) => Promise<void> {
  /** Ids of batches whose cost was charged in this process: two concurrent reads of a batch may both see its end. */
  const recorded = new Set<string>();
  return async (batch) => {
    if (recorded.has(batch.id)) return;
    const { id, owner, uses, createdAt, endedAt, labels, calls } = batch;
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
    const sums = new Map<string, CountedWindow>();
    if (cost !== null) {
      const key = await keyOf(owner);
      for (const use of pricedUses) {
        const model = publicModelOf(use.deployment, pricedUses.length === 1 ? calls : {});
        // oxlint-disable-next-line no-await-in-loop -- only the first one reads
        const windowsOfUse = await budgets.readWindows(key, { deployment: use.deployment, model }, labels);
        addToWindows(sums, windowsOfUse, use.cost ?? ZERO_USD);
      }
    }
    // A concurrent read of the batch may have recorded it.
    if (recorded.has(id)) return;
    if (recorded.size >= RECORDED_LIMIT) recorded.clear();
    recorded.add(id);
    const windows = [...sums.values()];
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
        windows: windows.length === 0 ? undefined : windows,
      }),
    );
    const { keyHash, teamId } = owner;
    if (cost === null) return;
    budgets.charge({ keyHash, teamId, userId: null, organizationId: null, projectId: null }, cost, { labels });
    // Each window counts only the cost of the uses that belong to it.
    for (const window of windows) budgets.charge(null, window.amount, { windows: [window] });
  };
}
