import type { Usd } from '../money.ts';
import type { Tier } from './tiers.ts';

/** Calls of one router that took the same way. */
export interface RoutedCalls {
  readonly routerId: string;
  /** Public name of the router at the time of the calls. */
  readonly router: string;
  /** Null for the default model. */
  readonly tier: Tier | null;
  readonly cause: string;
  /** Public name of the selected model. */
  readonly model: string;
  readonly calls: number;
  readonly failures: number;
  readonly cost: Usd;
}

/** Start of the calls, Unix ms: `fromMs` is inclusive, `toMs` is exclusive. */
interface RoutedPeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Registration of routers, and sums of their decisions. */
export interface AutoRouterStore {
  /** Runs work while no other process registers a router. Throws Unavailable after a minute. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Calls of a period by router, tier, cause and model, the most calls first, at most `most`. */
  decisions(period: RoutedPeriod, most: number): Promise<readonly RoutedCalls[]>;
}
