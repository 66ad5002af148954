import type { Clock } from '../../domain/clock.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { type LatencySample, latencyOf, TIMEOUT_LATENCY_MS } from '../../domain/routing/latency-samples.ts';
import type { LatencyRule } from '../../domain/routing/selection-policy.ts';
import {
  type AgedSample,
  type CountsOfAll,
  type CountsReport,
  type DeploymentCounts,
  MAX_REPORTED,
  MAX_SHARED_SAMPLES,
} from '../../domain/routing/shared-counts.ts';

/** Requests and tokens of a deployment in the current UTC minute. */
interface MinuteUse {
  readonly requests: number;
  readonly tokens: number;
}

/** Facts of an ended call that count for its deployment. */
interface EndedCall {
  readonly tokens: number;
  /** Duration of the call at this deployment, in ms; null for a call that did not complete. */
  readonly totalMs: number | null;
  /** Time to the first byte of a stream, in ms; null for other calls. */
  readonly firstTokenMs: number | null;
  readonly timedOut: boolean;
}

/**
 * Use and latency of deployments in this process and, where counts are shared, in the others. Nothing is counted until
 * `turnOn`, because most policies need no counts.
 */
export interface Traffic {
  isOn(): boolean;
  /** Starts counting. A repeated call has no effect. */
  turnOn(): void;
  /** Counts a request. */
  started(deploymentId: string): void;
  /** Takes a started request back, because it is not sent to the deployment. */
  withdrawn(deploymentId: string): void;
  /** Counts the tokens of a call, and keeps its latency. */
  ended(deploymentId: string, call: EndedCall): void;
  useOf(deploymentId: string): MinuteUse;
  /** Latency in ms; 0 without samples. `isFirstToken` selects the time to the first byte of streams. */
  latencyOf(deploymentId: string, rule: LatencyRule, isFirstToken: boolean): number;
  /** Seconds until the next UTC minute, from 1 to 60. */
  secondsLeft(): number;
  /** The counts that have changed since the last accepted report. The first report turns the sharing on. */
  report(): Pick<CountsReport, 'minute' | 'deployments'>;
  /** Takes over the answer to a report. */
  accept(report: Pick<CountsReport, 'minute' | 'deployments'>, all: Pick<CountsOfAll, 'deployments'>): void;
}

/** Samples of one kind. */
interface Samples {
  /** Of this process. */
  readonly own: LatencySample[];
  /** Those of this process that were not accepted yet. Empty where nothing is shared. */
  unsent: LatencySample[];
  /** The latest of other processes. */
  ofOthers: readonly LatencySample[];
}

interface Counts {
  /** Number of the UTC minute to which `requests` and `tokens` belong. */
  minute: number;
  /** Of this process. */
  requests: number;
  tokens: number;
  /** These as last accepted. */
  sentRequests: number;
  sentTokens: number;
  /** Of other processes. */
  otherRequests: number;
  otherTokens: number;
  readonly latencies: Samples;
  readonly firstTokens: Samples;
}

const MINUTE_MS = 60_000;
const NO_USE: MinuteUse = { requests: 0, tokens: 0 };
/** Maximum number of samples of each kind for a deployment. */
const MAX_SAMPLES = 1_000;
/** Maximum number of deployments with counts. The deployment that was counted first is evicted. */
const MAX_DEPLOYMENTS = 10_000;

const NO_COUNTS = { requests: 0, tokens: 0, sentRequests: 0, sentTokens: 0, otherRequests: 0, otherTokens: 0 };
const noSamples = (): Samples => ({ own: [], unsent: [], ofOthers: [] });

export function createTraffic(clock: Clock): Traffic {
  let isOn = false;
  let isShared = false;
  /** Position of the next report among the changed deployments, where they do not fit into one report. */
  let reportFrom = 0;
  const countsById = new Map<string, Counts>();
  const minuteNow = (): number => Math.floor(clock.now().getTime() / MINUTE_MS);

  /** Counts of a deployment. Starts the current minute with zero. */
  function countsOf(id: string): Counts {
    const minute = minuteNow();
    let counts = countsById.get(id);
    if (counts === undefined) {
      counts = { minute, ...NO_COUNTS, latencies: noSamples(), firstTokens: noSamples() };
      countsById.set(id, counts);
      evictOldest(countsById, MAX_DEPLOYMENTS);
    } else if (counts.minute !== minute) Object.assign(counts, { minute, ...NO_COUNTS });
    return counts;
  }

  function keep({ own, unsent }: Samples, latencyMs: number): void {
    const sample = { atMs: clock.monotonicMs(), latencyMs };
    own.push(sample);
    if (own.length > MAX_SAMPLES) own.shift();
    if (!isShared) return;
    unsent.push(sample);
    if (unsent.length > MAX_SHARED_SAMPLES) unsent.shift();
  }

  const agedSamples = ({ unsent }: Samples, nowMs: number): readonly AgedSample[] =>
    unsent.map(({ atMs, latencyMs }) => ({ ageMs: nowMs - atMs, latencyMs }));

  /** Removes the accepted samples, the oldest ones, and takes over those of other processes. */
  function replaceSamples(samples: Samples, sent: number, ofOthers: readonly AgedSample[]): void {
    const nowMs = clock.monotonicMs();
    samples.unsent = samples.unsent.slice(sent);
    samples.ofOthers = ofOthers.map(({ ageMs, latencyMs }) => ({ atMs: nowMs - ageMs, latencyMs }));
  }

  return {
    isOn: () => isOn,
    turnOn() {
      isOn = true;
    },
    started(id) {
      if (isOn) countsOf(id).requests += 1;
    },
    withdrawn(id) {
      const counts = isOn ? countsById.get(id) : undefined;
      if (counts !== undefined && counts.minute === minuteNow()) counts.requests = Math.max(0, counts.requests - 1);
    },
    ended(id, { tokens, totalMs, firstTokenMs, timedOut }) {
      if (!isOn) return;
      const counts = countsOf(id);
      counts.tokens += tokens;
      if (timedOut) {
        keep(counts.latencies, TIMEOUT_LATENCY_MS);
        keep(counts.firstTokens, TIMEOUT_LATENCY_MS);
      } else if (firstTokenMs !== null) keep(counts.firstTokens, firstTokenMs);
      else if (totalMs !== null) keep(counts.latencies, totalMs);
    },
    useOf(id) {
      const counts = countsById.get(id);
      if (counts === undefined || counts.minute !== minuteNow()) return NO_USE;
      const { requests, tokens, otherRequests, otherTokens } = counts;
      return { requests: requests + otherRequests, tokens: tokens + otherTokens };
    },
    latencyOf(id, rule, isFirstToken) {
      const counts = countsById.get(id);
      const samples = isFirstToken ? counts?.firstTokens : counts?.latencies;
      const known = samples === undefined ? [] : latestOf(samples, rule.samples);
      return latencyOf(known, rule, { nowMs: clock.monotonicMs(), isFirstToken });
    },
    secondsLeft() {
      const passedMs = clock.now().getTime() % MINUTE_MS;
      return Math.ceil((MINUTE_MS - passedMs) / 1_000);
    },
    report() {
      isShared = true;
      if (!isOn) return { minute: null, deployments: [] };
      const minute = minuteNow();
      const nowMs = clock.monotonicMs();
      const changed: DeploymentCounts[] = [];
      for (const [id, counts] of countsById) {
        const { requests, tokens, sentRequests, sentTokens } = counts.minute === minute ? counts : NO_COUNTS;
        const { latencies, firstTokens } = counts;
        const hasUse = requests !== sentRequests || tokens !== sentTokens;
        if (hasUse || latencies.unsent.length > 0 || firstTokens.unsent.length > 0)
          changed.push({
            id,
            requests,
            tokens,
            latencies: agedSamples(latencies, nowMs),
            firstTokens: agedSamples(firstTokens, nowMs),
          });
      }
      if (changed.length <= MAX_REPORTED) return { minute, deployments: changed };
      const from = reportFrom % changed.length;
      reportFrom = from + MAX_REPORTED;
      return { minute, deployments: [...changed.slice(from), ...changed.slice(0, from)].slice(0, MAX_REPORTED) };
    },
    accept({ minute, deployments: sent }, { deployments: all }) {
      if (minute === null) return;
      const sentById = new Map(sent.map((one) => [one.id, one]));
      const isCurrent = minute === minuteNow();
      for (const { id, requests, tokens, latencies, firstTokens } of all) {
        const own = sentById.get(id);
        const counts = countsOf(id);
        if (isCurrent) {
          counts.sentRequests = own?.requests ?? counts.sentRequests;
          counts.sentTokens = own?.tokens ?? counts.sentTokens;
          counts.otherRequests = Math.max(0, requests - counts.sentRequests);
          counts.otherTokens = Math.max(0, tokens - counts.sentTokens);
        }
        replaceSamples(counts.latencies, own?.latencies.length ?? 0, latencies);
        replaceSamples(counts.firstTokens, own?.firstTokens.length ?? 0, firstTokens);
      }
    },
  };
}

/** The latest samples of all processes, oldest first. */
function latestOf({ own, ofOthers }: Samples, most: number): readonly LatencySample[] {
  if (ofOthers.length === 0) return own;
  return [...own.slice(-most), ...ofOthers].toSorted((left, right) => left.atMs - right.atMs);
}
