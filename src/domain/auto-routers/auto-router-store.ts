import type { Usd } from '../money.ts';
import type { Tier } from './tiers.ts';

/** Sums of the calls with the same router, tier, cause and model. */
export interface RoutedCalls {
  /** Deployment id of the router. */
  readonly routerId: string;
  /** Public name of the router at the time of the calls. */
  readonly router: string;
  /** Null for calls of the default model. */
  readonly tier: Tier | null;
  /** A `RoutingCause`. */
  readonly cause: string;
  /** Public name of the selected model. */
  readonly model: string;
  readonly calls: number;
  readonly failures: number;
  /** Without the cost of judge calls. An unknown cost counts as zero. */
  readonly cost: Usd;
}

/** Calls that started from `fromMs`, inclusive, to `toMs`, exclusive; both in Unix ms. */
interface RoutedPeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Lock for the registration of routers, and sums of routed calls. */
export interface AutoRouterStore {
  /**
   * Runs work under a lock that all processes of the database share. Throws Unavailable after a wait of at most two
   * minutes.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Sums of the calls of a period, the most calls first; at most `maxSums`. */
  routedCalls(period: RoutedPeriod, maxSums: number): Promise<readonly RoutedCalls[]>;
}
