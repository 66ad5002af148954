import type { Bus } from '../domain/bus.ts';
import type { EarlierSpend } from '../domain/owners/started-owner.ts';
import { publishChanges } from '../domain/traces/publish-changes.ts';
import { createPendingDecisions } from '../gateway/accounting/pending-decisions.ts';
import { createPendingRecords } from '../gateway/accounting/pending-records.ts';
import { createCountedBudgets } from '../gateway/admission/counted-budgets.ts';
import type { Stores } from '../persistence/stores.ts';
import { type CallRecords, createCallRecords } from '../recording/call-records.ts';
import { createActivityCounter } from '../recording/gateway-activity.ts';
import { createNewestStart, type NewestStart } from '../recording/newest-start.ts';
import { createGuardrailUseCounter } from '../recording/guardrail-use.ts';
import { createToolUseCounter } from '../recording/tool-use.ts';
import { openSpanExport } from '../recording/span-export.ts';
import { createTeamLogging } from '../recording/team-logging.ts';
import { systemClock } from '../runtime/clock.ts';
import { callbackSealer } from '../runtime/credentials/text-sealer.ts';
import { createCalibrations } from '../runtime/decisions/calibrations.ts';
import { createRowQueue } from '../runtime/tasks/row-queue.ts';
import type { UpstreamClient } from '../runtime/http-client/client.ts';
import type { UpstreamObject } from '../domain/upstream-objects/upstream-object.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createResponseQueue } from '../runtime/responses/response-queue.ts';
import type { StartContext } from './context.ts';

/** Deadline of the export of the last spans at the shutdown, in ms. */
const EXPORT_DRAIN_MS = 1_500;
/** Maximum time in ms that a shutdown waits for guardrails of records. Then it stores the records without texts. */
const MASKING_MS = 2_000;
/** Maximum wait of a read for records that are not stored yet, in ms. */
const READABLE_MS = 1_000;

interface RecordParts {
  readonly stores: Stores;
  readonly bus: Bus;
}

/** Recording of calls and answers: in the stores, and at external collectors where they are configured. */
export function composeRecords(context: StartContext, parts: RecordParts & { readonly http: UpstreamClient }) {
  const { stores } = parts;
  const spans = composeSpanExport(context, parts);
  const newestStart = createNewestStart(stores.isExclusive ? () => stores.spend.newestStart() : null);
  const records = composeCallRecords(context, { ...parts, newestStart });
  const readable = (): Promise<boolean> => records.caughtUp(READABLE_MS);
  const spendStored = (): Promise<boolean> => records.spendStored(READABLE_MS);
  return {
    ...spans,
    records,
    readable,
    spendStored,
    newestStart,
    pendingRecords: createPendingRecords(),
    pendingDecisions: createPendingDecisions(),
    earlierSpend: earlierSpendOf(stores, spendStored),
    countedBudgets: createCountedBudgets(stores.spendReports, systemClock, spendStored),
    ...composeQueues(context, stores),
    ...composeCounters(context, parts),
    calibrations: createCalibrations(stores.decisionOutcomes),
  };
}

const earlierSpendOf = ({ spend }: Stores, spendStored: () => Promise<boolean>): EarlierSpend => ({
  async totalsOfEarlierOwners(kind, ids) {
    await spendStored();
    return spend.totalsOfEarlierOwners(kind, ids);
  },
});

/** Export of spans to the collector of the process and to the destinations of teams. */
function composeSpanExport(
  { settings, log, shutdown }: StartContext,
  { stores, http }: RecordParts & { readonly http: UpstreamClient },
) {
  const spanExport = openSpanExport(settings, http, log);
  const teamLogging = createTeamLogging({
    teams: stores.teams,
    secrets: callbackSealer(settings.saltSecrets),
    shared: spanExport,
    http,
    clock: systemClock,
    log,
  });
  // Also drains `spanExport`, its shared destination.
  shutdown.add('span export', () => teamLogging.drain(EXPORT_DRAIN_MS));
  return { spanExport, teamLogging };
}

function composeCallRecords(
  { log, shutdown }: StartContext,
  { stores, bus, newestStart }: RecordParts & { readonly newestStart: NewestStart },
): CallRecords {
  const records = createCallRecords({
    stores: stores.callSpans === null ? [stores.calls] : [stores.calls, stores.callSpans],
    recorded: newestStart.recorded,
    hasSubscribers: () => bus.subscriberCount() > 0,
    async changed(summaries) {
      if (bus.subscriberCount() > 0) publishChanges(bus, await summaries());
    },
    log,
  });
  shutdown.add('unfolding of records', () => records.stop());
  return records;
}

/** Queues of rows that are stored after the answer. */
const composeQueues = ({ settings, log }: StartContext, stores: Stores) => ({
  responseQueue: createResponseQueue({
    store: stores.responses,
    masterKey: settings.masterKey,
    storesNew: settings.storeResponses,
    log,
  }),
  decisionQueue: createRowQueue({ store: stores.decisions, noun: 'decisions', log }),
  healthCheckQueue: createRowQueue({ store: stores.healthChecks, noun: 'health checks', log }),
  objectQueue: createRowQueue<UpstreamObject>({
    store: {
      async add(...rows) {
        for (const row of rows) await stores.upstreamObjects.add(row);
      },
    },
    noun: 'objects of responses',
    log,
  }),
});

/** Counts of requests, of guardrail runs and of tools. */
const composeCounters = ({ settings, scheduler }: StartContext, { stores, bus }: RecordParts) => ({
  guardrailUse: createGuardrailUseCounter({
    process: randomIds.uuid(),
    store: stores.guardrailUse,
    clock: systemClock,
    everyMs: settings.activityWriteSeconds * 1000,
    scheduler,
  }),
  toolUse: createToolUseCounter({
    process: randomIds.uuid(),
    store: stores.toolUse,
    clock: systemClock,
    ids: randomIds,
    everyMs: settings.activityWriteSeconds * 1000,
    scheduler,
  }),
  activity: createActivityCounter({
    process: randomIds.uuid(),
    store: stores.gatewayActivity,
    clock: systemClock,
    everyMs: settings.activityWriteSeconds * 1000,
    scheduler,
    onCounts(counts) {
      if (bus.subscriberCount() > 0) bus.publish('activity', { at: systemClock.now(), counts });
    },
  }),
});

type Composed = ReturnType<typeof composeRecords>;

function addCountFlushes(
  { shutdown }: StartContext,
  { activity, guardrailUse, toolUse }: Pick<Composed, 'activity' | 'guardrailUse' | 'toolUse'>,
): void {
  shutdown.add('gateway activity', () => {
    activity.stop();
    return activity.flush();
  });
  shutdown.add('use of guardrails', () => {
    guardrailUse.stop();
    return guardrailUse.flush();
  });
  shutdown.add('use of tools', () => {
    toolUse.stop();
    return toolUse.flush();
  });
}

/** Adds the commit of all waiting records, rows and counts to the shutdown. */
export function addRecordFlushes(
  context: StartContext,
  parts: Pick<
    Composed,
    | 'records'
    | 'responseQueue'
    | 'activity'
    | 'guardrailUse'
    | 'toolUse'
    | 'decisionQueue'
    | 'healthCheckQueue'
    | 'objectQueue'
    | 'pendingRecords'
    | 'pendingDecisions'
  >,
): void {
  const { log, shutdown } = context;
  const { records, responseQueue, decisionQueue, healthCheckQueue, objectQueue, pendingRecords, pendingDecisions } =
    parts;
  addCountFlushes(context, parts);
  const queues = { decisions: decisionQueue, 'health checks': healthCheckQueue, 'objects of responses': objectQueue };
  for (const [noun, queue] of Object.entries(queues))
    shutdown.add(noun, () =>
      queue
        .flush()
        .catch((error: unknown) => log.error({ err: error }, `the last ${noun} could not be stored and are lost`)),
    );
  shutdown.add('responses', () =>
    responseQueue
      .flush()
      .catch((error: unknown) => log.error({ err: error }, 'the last responses could not be stored and are lost')),
  );
  shutdown.add('records', () =>
    records
      .flush()
      .catch((error: unknown) =>
        log.error({ err: error }, 'the last gateway records could not be stored and are lost'),
      ),
  );
  // Runs before all other steps of this function.
  shutdown.add('records that wait for guardrails', async () => {
    await Promise.all([pendingRecords.finish(MASKING_MS), pendingDecisions.finish(MASKING_MS)]);
  });
}
