import { countersOf } from '../../domain/admission/counters.ts';
import type { OpenAmounts } from '../../domain/admission/open-amounts.ts';
import { type BudgetWindow, windowCounter } from '../../domain/budgets/budget-window.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import type { KeyOfOwner } from '../../domain/keys/key-of-owner.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';
import type { UpstreamObject } from '../../domain/upstream-objects/upstream-object.ts';
import { chargedKeyOf } from './budget-charges.ts';
import type { Budgets } from './budgets.ts';
import type { CostExpectations } from './expected-cost.ts';
import { labelCounters } from './label-budgets.ts';
import type { RoutedModel } from './window-budgets.ts';

/** Time in ms after which the counters of an object are read again: windows end, and keys change their owners. */
const COUNTERS_MS = 60_000;
/** Time in ms for which an object without a stored row stays held. A released one is not held again for this time. */
const GRACE_MS = 10_000;

/** Parts of a stored object whose cost is recorded later. */
export type OpenObject = Pick<
  UpstreamObject,
  'id' | 'deploymentId' | 'owner' | 'userId' | 'labels' | 'calls' | 'openCost'
>;

/** Expected costs of objects that upstreams still work on. They are held in the budgets until the cost is recorded. */
export interface OpenCosts {
  /** Expected cost of a response at a deployment; zero where it is not known. */
  ofRequest(deploymentId: string, request: ModelRequest): Usd;
  /** Cost of the input tokens of a batch; zero where it is not known. Its output is not known before its end. */
  ofBatch(deploymentId: string, calls: BatchCalls | undefined): Usd;
  /** Holds the expected cost of a new object, from now on. */
  hold(key: Caller['key'], object: OpenObject): void;
  /** Releases the expected cost of an object that has ended. */
  release(id: string): void;
  /**
   * Replaces the held costs by those of the stored objects, as other processes and an earlier run of this process have
   * stored them. Throws what `read` throws, and Unavailable; the held costs then stay.
   */
  refresh(read: () => Promise<readonly OpenObject[]>): Promise<void>;
}

export function createOpenCosts({
  amounts,
  budgets,
  expectations,
  deployment,
  batchCost,
  keyOf,
  reservesCosts,
  clock,
}: {
  readonly amounts: OpenAmounts;
  readonly budgets: Pick<Budgets, 'windowsOf' | 'readWindows'>;
  readonly expectations: CostExpectations;
  /** A deployment by its id; null when it is no longer configured. */
  readonly deployment: (id: string) => Deployment | null;
  /** Cost of a number of input tokens in a batch; null where no price is known. */
  readonly batchCost: (deployment: Deployment, inputTokens: number) => Usd | null;
  readonly keyOf: KeyOfOwner;
  /** Whether budgets reserve expected costs. Otherwise nothing is held. */
  readonly reservesCosts: boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): OpenCosts {
  /** Held objects, with the times in ms at which they were held and their counters were read. */
  const held = new Map<string, { readonly heldMs: number; readonly readMs: number }>();
  const released = new Map<string, number>();

  function hold(
    { id, labels, openCost = ZERO_USD }: OpenObject,
    key: VirtualKey | null,
    windows: readonly BudgetWindow[],
  ): void {
    const nowMs = clock.monotonicMs();
    const ofKey = key === null ? [] : countersOf(chargedKeyOf(key));
    const counters = [...ofKey, ...labelCounters(labels), ...windows.map(windowCounter)];
    amounts.hold(id, { counters, amount: openCost });
    held.set(id, { heldMs: held.get(id)?.heldMs ?? nowMs, readMs: nowMs });
  }

  function drop(id: string): void {
    held.delete(id);
    amounts.release(id);
  }

  /** The models that an object uses: those of its file, else the group of its deployment. */
  function routedOf({ deploymentId, calls = {} }: OpenObject): readonly RoutedModel[] {
    const at = deployment(deploymentId);
    if (at === null) return [];
    const names = Object.keys(calls);
    return (names.length === 0 ? [at.modelGroup] : names).map((model) => ({ deployment: at, model }));
  }

  async function readAndHold(object: OpenObject): Promise<void> {
    const { owner, userId = null, labels } = object;
    const key = await keyOf({ ...owner, userId });
    const windows = await Promise.all(routedOf(object).map((at) => budgets.readWindows(key, at, labels)));
    if (!released.has(object.id)) hold(object, key, windows.flat());
  }

  return {
    ofRequest(deploymentId, request) {
      const at = reservesCosts ? deployment(deploymentId) : null;
      return at === null ? ZERO_USD : expectations.of(at, request).cost;
    },
    ofBatch(deploymentId, calls = {}) {
      const at = reservesCosts ? deployment(deploymentId) : null;
      if (at === null) return ZERO_USD;
      const tokens = Object.values(calls).reduce((sum, one) => sum + one.tokens, 0);
      return batchCost(at, tokens) ?? ZERO_USD;
    },
    hold(key, object) {
      if ((object.openCost ?? ZERO_USD) === ZERO_USD) return;
      hold(
        object,
        key,
        routedOf(object).flatMap((at) => budgets.windowsOf(key, at, object.labels) ?? []),
      );
    },
    release(id) {
      released.set(id, clock.monotonicMs());
      drop(id);
    },
    async refresh(read) {
      const startMs = clock.monotonicMs();
      for (const [id, atMs] of released) if (atMs + GRACE_MS < startMs) released.delete(id);
      const objects = await read();
      const stored = new Set(objects.map(({ id }) => id));
      for (const [id, { heldMs }] of held) if (!stored.has(id) && heldMs + GRACE_MS < startMs) drop(id);
      for (const object of objects) {
        const readMs = held.get(object.id)?.readMs ?? -Infinity;
        if (released.has(object.id) || readMs + COUNTERS_MS > startMs) continue;
        // oxlint-disable-next-line no-await-in-loop -- most objects are held already
        await readAndHold(object);
      }
    },
  };
}
