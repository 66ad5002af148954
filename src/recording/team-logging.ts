import type { CallRecord } from '../domain/calls/call-record.ts';
import type { Clock } from '../domain/clock.ts';
import { evictOldest } from '../domain/evict-oldest.ts';
import type { HttpClient } from '../domain/http.ts';
import { nullIfBlank } from '../domain/optional-text.ts';
import { Secret } from '../domain/secret.ts';
import {
  isLoggingDisabled,
  receivesOutcome,
  type TeamCallback,
  teamCallbacks,
  withReplacedSecrets,
} from '../domain/teams/logging.ts';
import type { TeamStore } from '../domain/teams/team.ts';
import { withDeadline } from '../domain/with-deadline.ts';
import { type ExportedSpan, exportedSpan } from '../domain/traces/exported-span.ts';
import type { SpanExport } from '../domain/traces/span-export.ts';
import type { CallRecorder } from '../gateway/gateway.ts';
import type { TextSealer } from '../runtime/credentials/text-sealer.ts';
import type { OtlpExportSettings } from '../runtime/settings/otlp-export.ts';
import { createSampledWarnings, type Log } from '../runtime/telemetry/log.ts';
import { createSpanExporter } from '../runtime/telemetry/span-exporter.ts';
import { exportFormat } from './span-export.ts';

/** How long the callbacks of a team are cached, in ms: as long as the rows of API keys. */
const FRESH_MS = 4_000;
/**
 * How long a team without callbacks is cached, in ms, if the operator has no collector: nothing is exported for such a
 * team. A change of the team evicts it.
 */
const NO_EXPORT_MS = 60_000;
/** Maximum number of cached teams. Beyond it, the team with the oldest read is evicted. */
const MAX_TEAMS = 10_000;
/** Maximum number of destinations with an open queue; the least recently used one is closed. */
const MAX_DESTINATIONS = 64;
/** Maximum number and bytes of the spans that wait for one destination. */
const QUEUE_LIMIT = { spans: 1_024, bytes: 2 << 20 } as const;
/** Maximum number of calls that wait for the callbacks of their team. */
const MAX_WAITING = 4_096;
/** Maximum time to send the queue of a closed destination, in ms. */
const DRAIN_MS = 1_500;

/** Callbacks of a team, and when they were read. */
interface KnownTeam {
  readonly readAt: number;
  readonly isDisabled: boolean;
  readonly callbacks: readonly TeamCallback[];
}

/**
 * Exports calls to the collector of the operator, and calls of teams also to the destinations of their callbacks. A
 * team can disable both for its calls.
 */
export interface TeamLogging extends CallRecorder {
  /** Evicts the callbacks of a team, so that its next call reads them. */
  evict(teamId: string): void;
  /** As `evict`, for all teams. */
  evictAll(): void;
  /** Counts of spans for destinations of teams, closed destinations included. */
  counts(): ReturnType<SpanExport['counts']>;
  /**
   * Waits for running reads, then sends the queues of all destinations and of the operator's collector, within
   * `withinMs`.
   */
  drain(withinMs: number): Promise<void>;
}

/** Collector of a callback; null for an unknown or incomplete callback. */
function collectorOf({ name, vars }: TeamCallback): Pick<OtlpExportSettings, 'url' | 'headers'> | null {
  const urlOf = (base: string | undefined, defaultBase: string, path: string): string =>
    `${(base === undefined || base === '' ? defaultBase : base).replace(/\/+$/, '')}${path}`;
  if (name === 'langsmith') {
    const { langsmith_api_key: key, langsmith_project: project, langsmith_base_url: base } = vars;
    if (key === undefined) return null;
    return {
      url: urlOf(base, 'https://api.smith.langchain.com', '/otel/v1/traces'),
      headers: {
        'x-api-key': new Secret(key),
        ...(project === undefined ? {} : { 'langsmith-project': new Secret(project) }),
      },
    };
  }
  if (!name.startsWith('langfuse')) return null;
  const { langfuse_public_key: user, langfuse_secret_key: password, langfuse_host: base } = vars;
  if (user === undefined || password === undefined) return null;
  return {
    url: urlOf(base, 'https://cloud.langfuse.com', '/api/public/otel/v1/traces'),
    headers: { authorization: new Secret(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`) },
  };
}

export function createTeamLogging(options: {
  readonly teams: Pick<TeamStore, 'find'>;
  readonly secrets: Pick<TextSealer, 'open'>;
  /** Collector of the operator; null for none. */
  readonly shared: SpanExport | null;
  readonly http: Pick<HttpClient, 'post'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}): TeamLogging {
  const { teams, secrets, shared, clock, log } = options;
  const warn = createSampledWarnings(log, { sample: 1, windowMs: 60_000 });
  const known = new Map<string, KnownTeam>();
  /** Running reads by team, for calls of the same team to share. */
  const sharedReads = new Map<string, Promise<KnownTeam | null>>();
  /** All running reads, also those that an eviction removed from `sharedReads`. */
  const runningReads = new Set<Promise<KnownTeam | null>>();
  /** Open destinations, the least recently used first. */
  const destinations = new Map<string, SpanExport>();
  /** Team administrators choose the addresses. Private addresses are refused unless the operator allows them. */
  const http: Pick<HttpClient, 'post'> = {
    post: (url, headers, body, about) => options.http.post(url, headers, body, { ...about, chosenByCaller: true }),
  };
  /** Closed destinations that still send their queues. */
  const closing = new Set<SpanExport>();
  /** Counts of closed destinations. */
  const closedCounts = { sent: 0, dropped: 0, failed: 0 };
  /** Number of evictions so far. */
  let evictions = 0;
  /** Number of calls that wait for the callbacks of their team. */
  let waiting = 0;

  /** Reads the callbacks of a team. Null after a failure: nothing is exported, because logging may be disabled. */
  async function read(teamId: string): Promise<KnownTeam | null> {
    const evictionsBefore = evictions;
    try {
      const metadata = (await teams.find(teamId))?.metadata ?? {};
      const callbacks = teamCallbacks(metadata).map((one) =>
        withReplacedSecrets(one, (text) => secrets.open(text, teamId) ?? ''),
      );
      const team = { readAt: clock.now().getTime(), isDisabled: isLoggingDisabled(metadata), callbacks };
      // A row whose read began before an eviction is not cached.
      if (evictions !== evictionsBefore) return team;
      known.delete(teamId);
      known.set(teamId, team);
      evictOldest(known, MAX_TEAMS);
      return team;
    } catch (error) {
      warn(
        'unread',
        () => ({ err: error, teamId }),
        'callbacks of a team could not be read: its calls are not exported',
      );
      return null;
    }
  }

  function readOnce(teamId: string): Promise<KnownTeam | null> {
    const running = sharedReads.get(teamId);
    if (running !== undefined) return running;
    const started = read(teamId).finally(() => {
      runningReads.delete(started);
      // After an eviction, `sharedReads` may have a newer read.
      if (sharedReads.get(teamId) === started) sharedReads.delete(teamId);
    });
    runningReads.add(started);
    sharedReads.set(teamId, started);
    return started;
  }

  /** Sends the queue of a closed destination, and adds its counts to `closedCounts`. */
  async function close(destination: SpanExport): Promise<void> {
    closing.add(destination);
    await destination.drain(DRAIN_MS);
    closing.delete(destination);
    const { sent, dropped, failed } = destination.counts();
    closedCounts.sent += sent;
    closedCounts.dropped += dropped;
    closedCounts.failed += failed;
  }

  function isFresh({ readAt, callbacks }: KnownTeam): boolean {
    const maxAgeMs = callbacks.length === 0 && shared === null ? NO_EXPORT_MS : FRESH_MS;
    return clock.now().getTime() - readAt < maxAgeMs;
  }

  function destinationOf(callback: TeamCallback): SpanExport | null {
    const collector = collectorOf(callback);
    if (collector === null) return null;
    const id = JSON.stringify([callback.name, callback.vars]);
    const destination =
      destinations.get(id) ??
      createSpanExporter({
        settings: { ...collector, encoding: 'protobuf', gzip: true, timeoutMs: 10_000 },
        http,
        format: exportFormat('protobuf'),
        log,
        queue: QUEUE_LIMIT,
      });
    destinations.delete(id);
    destinations.set(id, destination);
    const [leastRecentlyUsed] = destinations;
    if (destinations.size > MAX_DESTINATIONS && leastRecentlyUsed !== undefined) {
      const [closedId, closed] = leastRecentlyUsed;
      destinations.delete(closedId);
      void close(closed);
    }
    return destination;
  }

  function send(team: KnownTeam, { span, childSpans }: CallRecord, teamId: string): void {
    if (team.isDisabled) return;
    const ofTeam = team.callbacks
      .filter((one) => receivesOutcome(one, span.status === 'error'))
      .flatMap((one) => destinationOf(one) ?? []);
    const targets = shared === null ? ofTeam : [shared, ...ofTeam];
    if (targets.length === 0) return;
    const spans: readonly ExportedSpan[] = [span, ...(childSpans ?? [])].map((one) => exportedSpan(one, teamId));
    for (const target of targets) for (const one of spans) target.push(one);
  }

  async function sendAfterRead(call: CallRecord, teamId: string): Promise<void> {
    if (waiting >= MAX_WAITING)
      return warn('waiting', () => ({ waiting }), 'calls of teams are not exported: too many wait');
    waiting += 1;
    const team = await readOnce(teamId);
    waiting -= 1;
    if (team !== null) send(team, call, teamId);
  }

  return {
    record(call) {
      const teamId = nullIfBlank(call.spend.teamId);
      if (teamId === null) {
        if (shared === null) return;
        for (const one of [call.span, ...(call.childSpans ?? [])]) shared.push(exportedSpan(one, null));
        return;
      }
      const team = known.get(teamId);
      if (team !== undefined && isFresh(team)) send(team, call, teamId);
      else void sendAfterRead(call, teamId);
    },
    evict(teamId) {
      evictions += 1;
      known.delete(teamId);
      sharedReads.delete(teamId);
    },
    evictAll() {
      evictions += 1;
      known.clear();
      sharedReads.clear();
    },
    counts() {
      const all = [...destinations.values(), ...closing].map((one) => one.counts());
      const total = (name: 'sent' | 'dropped' | 'failed' | 'waiting'): number =>
        all.reduce((sum, counts) => sum + counts[name], 0);
      return {
        sent: closedCounts.sent + total('sent'),
        dropped: closedCounts.dropped + total('dropped'),
        failed: closedCounts.failed + total('failed'),
        waiting: total('waiting'),
      };
    },
    async drain(withinMs) {
      const endsMs = clock.now().getTime() + withinMs;
      // If the store does not answer, half of the time remains for the queues.
      await withDeadline(Promise.all(runningReads), withinMs / 2, () => {});
      const all = [...destinations.values(), ...closing, ...(shared === null ? [] : [shared])];
      const remainingMs = Math.max(0, endsMs - clock.now().getTime());
      await Promise.all(all.map((one) => one.drain(remainingMs)));
    },
  };
}
