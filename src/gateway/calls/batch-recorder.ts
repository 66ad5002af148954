import type { BudgetWindow } from '../../domain/budgets/budget-window.ts';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import { type PriceRow, tokenPricesOf } from '../../domain/catalog/prices.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { pricedRow } from '../../domain/deployments/priced-row.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import type { KeyOfOwner } from '../../domain/keys/key-of-owner.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { plausibleCost } from '../../domain/inference/plausible-usage.ts';
import { addUsd, type Rate, rateFrom, type Usd } from '../../domain/money.ts';
import {
  addUsage,
  type EndedBatch,
  type ModelUse,
  type UnchargedBatch,
} from '../../domain/upstream-objects/batch-use.ts';
import { namedUses } from '../../domain/upstream-objects/named-uses.ts';
import { chargedKeyOf } from '../admission/budget-charges.ts';
import type { CallTools } from './call.ts';
import { costOf } from '../accounting/price.ts';
import { recordOf } from '../accounting/record.ts';
import { isSameUpstream } from '../../domain/deployments/same-upstream.ts';

/** Maximum number of batch ids in memory. At the limit all are dropped; the unique row id prevents a second row. */
const RECORDED_LIMIT = 10_000;

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

/**
 * Cost of a run of an evaluation at the usual prices. As for batches, tiers do not apply. Null when no price is known.
 */
const runCostOf = (row: PriceRow, usage: Usage): Usd | null =>
  costOf({ base: tokenPricesOf(row), tiers: [], boundIncluded: false, perRequest: null, pricedUpTo: null }, usage);

/** Cost, operation and call type of each kind. A response is one call, so it costs what any call costs. */
const KINDS = {
  batch: { costOf: batchCostOf, operation: 'batches.end', callType: 'aretrieve_batch' },
  eval_run: { costOf: runCostOf, operation: 'evalRuns.end', callType: 'aget_run' },
  response: { costOf: null, operation: 'responses.end', callType: 'aresponses' },
} as const;

/** The deployments of the public names of a batch at its upstream account. */
function servingDeployments(
  { deployment, calls = {} }: EndedBatch,
  deploymentsOf: (name: string) => readonly Deployment[],
): ReadonlyMap<string, Deployment> {
  return new Map(
    Object.keys(calls).flatMap((name) => {
      const serving = deploymentsOf(name);
      const found =
        serving.find(({ id }) => id === deployment.id) ?? serving.find((one) => isSameUpstream(one, deployment));
      return found === undefined ? [] : [[name, found] as const];
    }),
  );
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
  readonly deployments: () => readonly Deployment[];
  /** The deployments of a public model name for a key. */
  readonly deploymentsOf: (key: VirtualKey | null, name: string) => readonly Deployment[];
  /** Replaces a configured alias by its model. Returns other names unchanged. None is replaced when absent. */
  readonly targetOf?: (name: string) => string;
}

/** Usage and cost of one public model in a batch. */
interface ModelCost extends ModelUse {
  /** The public name of the model, as budgets name it. */
  readonly name: string;
  readonly deployment: Deployment;
  /** Null when a part of the usage has no price. */
  readonly cost: Usd | null;
  /** Position of the name among all names of the batch. Row and span are named by it. */
  readonly position: number;
}

/**
 * Usage and cost of a batch by public name of the model: that of the file, else the name of the deployment. In the
 * order of their positions.
 */
function modelCostsOf(
  { uses, calls = {}, deployment: ofBatch }: EndedBatch,
  serving: ReadonlyMap<string, Deployment>,
  price: (ofName: Deployment, use: ModelUse) => Pick<ModelCost, 'deployment' | 'cost'>,
): readonly ModelCost[] {
  const sums = new Map<string, Omit<ModelCost, 'position'>>();
  for (const use of namedUses(uses, calls, (name) => serving.get(name)?.upstreamModel)) {
    const { name: ofFile, model, usage } = use;
    const { deployment, cost } = price(serving.get(ofFile ?? '') ?? ofBatch, use);
    const name = ofFile ?? deployment.modelGroup;
    const sum = sums.get(name);
    sums.set(
      name,
      sum === undefined
        ? { name, deployment, model, usage, cost }
        : {
            ...sum,
            usage: addUsage(sum.usage, usage),
            cost: sum.cost === null || cost === null ? null : addUsd(sum.cost, cost),
          },
    );
  }
  const names = [...new Set([...Object.keys(calls), ...sums.keys()])];
  return [...sums.values()]
    .map((sum) => ({ ...sum, cost: plausibleCost(sum.cost), position: names.indexOf(sum.name) }))
    .toSorted((left, right) => left.position - right.position);
}

/** Id of a span of a batch: the start of the trace id for the first name, and the ids after it for the others. */
const spanIdAt = (traceId: string, position: number): string =>
  position === 0
    ? traceId.slice(0, 16)
    : BigInt.asUintN(64, BigInt(`0x${traceId.slice(0, 16)}`) + BigInt(position))
        .toString(16)
        .padStart(16, '0');

/**
 * The record of one model of a batch. The records of a batch are in one trace. Row and span ids depend only on the
 * batch and the position of the model. So a batch that two processes record is stored once.
 */
function recordOfModel(
  { kind, id, owner, userId, createdAt, endedAt, labels }: Omit<EndedBatch, 'uses'>,
  { name, deployment, model, usage, cost, position }: Omit<ModelCost, 'usage'> & { readonly usage: Usage | null },
  {
    firstPosition,
    windows,
    failure = null,
  }: {
    readonly firstPosition: number;
    readonly windows: readonly BudgetWindow[];
    /** Why the cost is not known; null where it is known. */
    readonly failure?: Error | null;
  },
): CallRecord {
  const traceId = id.replace(/^(batch|evalrun|resp)_/, '');
  const { operation, callType } = KINDS[kind];
  const isFirst = position === firstPosition;
  return recordOf({
    rowId: position === 0 ? id : `${id}-${position}`,
    callId: id,
    traceId,
    spanId: spanIdAt(traceId, position),
    caller: { ...owner, userId: userId ?? null, role: 'internal_user', key: null },
    request: {
      endpoint: { operation, callType },
      model: name,
      body: {},
      callId: id,
      parent: isFirst ? null : { traceId, spanId: spanIdAt(traceId, firstPosition) },
      ...(labels === undefined ? {} : { labels }),
    },
    deployment,
    startedAt: createdAt,
    durationMs: Math.max(0, endedAt.getTime() - createdAt.getTime()),
    firstByteMs: null,
    outcome: {
      responseId: id,
      responseModel: model,
      finishReason: null,
      usage,
      failure: null,
      text: null,
    },
    cost,
    end: failure === null ? 'completed' : 'failed',
    failure,
    capturePrompts: false,
    resendCount: 0,
    guard: null,
    // With amounts, because another process may record the same batch: see `hasOwnAmounts` of the call store.
    windows: cost === null || windows.length === 0 ? undefined : windows.map((one) => ({ ...one, amount: cost })),
  });
}

/** Cost of a number of input tokens in a batch. Null when no price is known. */
export const batchInputCost = (row: PriceRow, inputTokens: number): Usd | null =>
  batchCostOf(row, { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 });

/** Records finished batches, runs and responses. */
interface BatchRecorder {
  /** Records it for its owner: one record for each public model. Idempotent. */
  recordBatch(batch: EndedBatch): Promise<void>;
  /** Records it without a usage and a cost. Idempotent. */
  recordUncharged(batch: UnchargedBatch): void;
}

export function createBatchRecorder(
  { recorder, budgets, price }: Pick<CallTools, 'recorder' | 'budgets' | 'price'>,
  {
    catalog,
    adjusted,
    deployments,
    deploymentsOf,
    release = () => {},
    onUncharged = () => {},
    keyOf = () => Promise.resolve(null),
    targetOf = (name) => name,
  }: BatchPrices & {
    readonly keyOf?: KeyOfOwner | undefined;
    /** Releases the expected cost of a batch, which its cost replaces. */
    readonly release?: (id: string) => void;
    /** Receives the batches that are recorded without a cost. */
    readonly onUncharged?: ((batch: UnchargedBatch) => void) | undefined;
  },
): BatchRecorder {
  /** Ids of batches whose cost was charged in this process: two concurrent reads of a batch may both see its end. */
  const recorded = new Set<string>();

  function priced(
    kind: EndedBatch['kind'],
    ofName: Deployment,
    { model, usage }: ModelUse,
  ): Pick<ModelCost, 'deployment' | 'cost'> {
    const { costOf: ofRow } = KINDS[kind];
    if (ofRow === null) return { deployment: ofName, cost: price(ofName, { usage }) };
    const deployment = pricedAs(ofName, model, deployments());
    const cost = ofRow(pricedRow(deployment, catalog()), usage);
    return { deployment, cost: cost === null ? null : adjusted(cost, deployment.provider) };
  }

  function addRecorded(id: string): void {
    if (recorded.size >= RECORDED_LIMIT) recorded.clear();
    recorded.add(id);
  }

  async function recordBatch(batch: EndedBatch): Promise<void> {
    const { id, owner, userId = null, labels } = batch;
    if (recorded.has(id)) return;
    const key = await keyOf({ ...owner, userId });
    const serving = servingDeployments(batch, (name) => deploymentsOf(key, name));
    const costs = modelCostsOf(batch, serving, (ofName, use) => priced(batch.kind, ofName, use));
    const records: { readonly record: CallRecord; readonly windows: readonly BudgetWindow[] }[] = [];
    for (const found of costs) {
      // Budgets name the model of an alias.
      const one = { ...found, name: targetOf(found.name) };
      const { cost, deployment, name } = one;
      const windows =
        // oxlint-disable-next-line no-await-in-loop -- only the first one reads
        cost === null ? [] : await budgets.readWindows(key, { deployment, model: name }, labels);
      records.push({ windows, record: recordOfModel(batch, one, { firstPosition: costs[0]?.position ?? 0, windows }) });
    }
    const isCharged = costs.some(({ cost }) => cost !== null && cost > 0n);
    if (isCharged) await budgets.readSoftBudgets(key, labels);
    // A concurrent read of the batch may have recorded it.
    if (recorded.has(id)) return;
    addRecorded(id);
    release(id);
    for (const { record, windows } of records) {
      recorder.record(record);
      const { cost } = record.spend;
      if (cost !== null) budgets.charge(key && chargedKeyOf(key), cost, { labels, windows });
    }
    if (isCharged) budgets.alertSoftBudgets(key, labels);
  }

  function recordUncharged(batch: UnchargedBatch): void {
    const { id, calls = {}, deployment, reason } = batch;
    if (recorded.has(id)) return;
    addRecorded(id);
    onUncharged(batch);
    // A record names the deployment of its call.
    if (deployment === null) return;
    const [name = deployment.modelGroup] = Object.keys(calls);
    const unknown = { name, deployment, model: null, usage: null, cost: null, position: 0 };
    const message = `The cost is not known (${reason}).`;
    const failure = new UpstreamFailed(message, { provider: deployment.provider, upstreamStatus: null });
    recorder.record(recordOfModel({ ...batch, deployment }, unknown, { firstPosition: 0, windows: [], failure }));
  }

  return { recordBatch, recordUncharged };
}
