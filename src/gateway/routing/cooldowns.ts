import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import { AllCoolingDown, UpstreamFailed } from '../../domain/errors.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { cooldownSeconds, isFaultOfDeployment, shouldCoolDown } from '../../domain/routing/cooldown.ts';
import { classOfFailure } from '../../domain/routing/failure-class.ts';
import type { CooldownPolicy } from '../../domain/routing/routing-policy.ts';
import { MAX_REPORTED, type RemainingCooldown } from '../../domain/routing/shared-counts.ts';
import type { Route, Router, TeamRouter } from './route.ts';

/**
 * Deployments that get no calls for some seconds after failures. Each process counts its own failures, and may take
 * over the cooldowns of others.
 */
export interface Cooldowns {
  succeeded(deployment: Deployment): void;
  /** `isAlone` when the group has no other deployment. */
  failed(deployment: Deployment, failure: unknown, about: { readonly isAlone: boolean }): void;
  /** Time in ms until a deployment is called again; 0 when it does not cool down. */
  remainingMs(deploymentId: string): number;
  /** Cooldowns that this process has started since `reported`. The first call turns the sharing on. */
  unreported(): readonly RemainingCooldown[];
  /** Other processes know the cooldowns that `unreported` returned last. */
  reported(): void;
  /** Takes over cooldowns of all processes. A longer one of this process stays. */
  takeOver(cooldowns: readonly RemainingCooldown[]): void;
}

/** Results of the calls of one deployment. */
interface Counts {
  /** Start of the minute in which `calls` and `failures` are counted. */
  minuteFromMs: number;
  calls: number;
  failures: number;
  /** Start of the period, as long as a cooldown, in which `recent` and `recentByClass` are counted. */
  recentFromMs: number;
  /** Recent failures by a fault of the deployment. */
  recent: number;
  /** All recent failures, by class. */
  readonly recentByClass: Map<string, number>;
}

const MINUTE_MS = 60_000;
/**
 * Maximum number of deployments with counts. The oldest is evicted. Counts of removed deployments stay in memory until
 * they are evicted.
 */
const MAX_DEPLOYMENTS = 10_000;

/** Counts results by deployment id, and starts cooldowns by the policy that is in force at the time of a failure. */
export function createCooldowns(clock: Clock, policyOf: () => CooldownPolicy): Cooldowns {
  const countsById = new Map<string, Counts>();
  /** End of the cooldown, by deployment id. */
  const coolUntilMs = new Map<string, number>();
  /** Cooldowns of this process that others do not know; null where none are shared. */
  let unreported: Map<string, number> | null = null;
  let lastReport: readonly (readonly [id: string, untilMs: number])[] = [];

  function countsOf(id: string, nowMs: number): Counts {
    let counts = countsById.get(id);
    if (counts === undefined) {
      counts = { minuteFromMs: nowMs, calls: 0, failures: 0, recentFromMs: nowMs, recent: 0, recentByClass: new Map() };
      countsById.set(id, counts);
      evictOldest(countsById, MAX_DEPLOYMENTS);
    }
    if (nowMs - counts.minuteFromMs >= MINUTE_MS) Object.assign(counts, { minuteFromMs: nowMs, calls: 0, failures: 0 });
    return counts;
  }

  /** Returns the number of recent failures of the same class, including this one. */
  function countFailure(counts: Counts, failure: UpstreamFailed, at: { nowMs: number; seconds: number }): number {
    if (at.nowMs - counts.recentFromMs >= at.seconds * 1000) {
      counts.recentFromMs = at.nowMs;
      counts.recent = 0;
      counts.recentByClass.clear();
    }
    const name = classOfFailure(failure) ?? 'Default';
    const ofClass = (counts.recentByClass.get(name) ?? 0) + 1;
    counts.calls += 1;
    counts.failures += 1;
    if (isFaultOfDeployment(failure)) counts.recent += 1;
    counts.recentByClass.set(name, ofClass);
    return ofClass;
  }

  return {
    succeeded({ id }) {
      if (!policyOf().isOff) countsOf(id, clock.monotonicMs()).calls += 1;
    },
    failed({ id, routing: own }, failure, { isAlone }) {
      const policy = policyOf();
      if (policy.isOff || !(failure instanceof UpstreamFailed)) return;
      const nowMs = clock.monotonicMs();
      const counts = countsOf(id, nowMs);
      const recentOfClass = countFailure(counts, failure, { nowMs, seconds: own?.cooldownSeconds ?? policy.seconds });
      if (!shouldCoolDown(failure, { counts: { ...counts, recentOfClass }, isAlone, policy, own })) return;
      const seconds = cooldownSeconds(failure, { policy, own });
      if (seconds <= 0) return;
      coolUntilMs.set(id, nowMs + seconds * 1000);
      unreported?.set(id, nowMs + seconds * 1000);
    },
    remainingMs(id) {
      if (coolUntilMs.size === 0) return 0;
      const remaining = (coolUntilMs.get(id) ?? 0) - clock.monotonicMs();
      if (remaining > 0) return remaining;
      coolUntilMs.delete(id);
      return 0;
    },
    unreported() {
      unreported ??= new Map(coolUntilMs);
      const nowMs = clock.monotonicMs();
      for (const [id, untilMs] of unreported) if (untilMs <= nowMs) unreported.delete(id);
      lastReport = [...unreported].slice(0, MAX_REPORTED);
      return lastReport.map(([id, untilMs]) => ({ id, remainingMs: untilMs - nowMs }));
    },
    reported() {
      // A cooldown that was extended since the report is reported again.
      for (const [id, untilMs] of lastReport) if (unreported?.get(id) === untilMs) unreported.delete(id);
    },
    takeOver(cooldowns) {
      if (policyOf().isOff) return;
      const nowMs = clock.monotonicMs();
      for (const { id, remainingMs } of cooldowns)
        coolUntilMs.set(id, Math.max(coolUntilMs.get(id) ?? 0, nowMs + remainingMs));
      evictOldest(coolUntilMs, MAX_DEPLOYMENTS);
    },
  };
}

/**
 * A router that selects a cooling deployment only when its whole group cools down. A selection by id is not affected.
 */
export function skipCoolingDown(routeOf: TeamRouter, cooldowns: Cooldowns): TeamRouter {
  const routers = new WeakMap<Router, Router>();
  const routerForTeam = (teamId: string | null): Router | null => {
    const own = routeOf.forTeam(teamId);
    if (own === null) return null;
    const known = routers.get(own) ?? routerSkippingCoolingDown(own, cooldowns);
    routers.set(own, known);
    return known;
  };
  return Object.assign(routerSkippingCoolingDown(routeOf, cooldowns), { forTeam: routerForTeam });
}

function routerSkippingCoolingDown(routeOf: Router, { remainingMs }: Cooldowns): Router {
  const isCooling = ({ deployment }: Route): boolean => remainingMs(deployment.id) > 0;
  const select = (model: string, deploymentId?: string): Route | null => {
    const selected = routeOf(model, deploymentId);
    if (selected === null || deploymentId !== undefined || !isCooling(selected)) return selected;
    const mostSelections = routeOf.all(model).length;
    for (let selections = 1; selections < mostSelections; selections += 1) {
      const next = routeOf(model);
      if (next !== null && !isCooling(next)) return next;
    }
    return selected;
  };
  return Object.assign(select, { all: routeOf.all, byId: routeOf.byId });
}

/** Error for a call to a group whose deployments all cool down. */
export function allCoolingDown(model: string, routes: readonly Route[], { remainingMs }: Cooldowns): AllCoolingDown {
  const ids = routes.map(({ deployment }) => deployment.id);
  const seconds = Math.max(1, Math.ceil(Math.min(...ids.map(remainingMs)) / 1000));
  const list = ids.map((id) => `'${id}'`).join(', ');
  return new AllCoolingDown(
    `No deployments available for selected model, Try again in ${seconds} seconds. All deployments for selected model are in cooldown. Passed model=${model}. pre-call-checks=False, cooldown_list=[${list}]`,
    seconds,
  );
}
