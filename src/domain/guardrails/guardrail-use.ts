import type { SpendRow } from '../spend/spend-row.ts';

/** How a run of a guardrail ended. `intervened`: it blocked or edited. `failed`: it did not answer. */
export type GuardrailRunResult = 'passed' | 'flagged' | 'intervened' | 'failed';

/** One run of a guardrail on a call. It does not contain texts of the call. */
export interface GuardrailRun {
  readonly id: string;
  readonly guardrailId: string;
  readonly name: string;
  readonly kind: string;
  readonly result: GuardrailRunResult;
  readonly mode: string;
  readonly at: Date;
  readonly latencyMs: number;
  /** Model that the caller named. */
  readonly model: string;
  readonly callId: string;
  readonly traceId: string;
  readonly keyHash: string;
  readonly teamId: string | null;
}

/** Runs of one guardrail on one UTC day, `YYYY-MM-DD`. */
export interface GuardrailDay extends Pick<GuardrailRun, 'guardrailId' | 'name' | 'kind'> {
  readonly day: string;
  readonly passed: number;
  readonly flagged: number;
  readonly intervened: number;
  readonly failed: number;
  /** Sum over all runs. */
  readonly latencyMs: number;
}

/** Counts and runs of one commit. */
export interface GuardrailUseBatch {
  /** Id of the process that counted. */
  readonly process: string;
  /** Number of the batch in its process, from 1. */
  readonly number: number;
  readonly days: readonly GuardrailDay[];
  /** Runs that are stored one by one: those that did not pass. */
  readonly runs: readonly GuardrailRun[];
}

interface GuardrailUseQuery {
  /** First and last day of the period, both included. */
  readonly from: string;
  readonly to: string;
  /** Null for all guardrails. */
  readonly guardrailId: string | null;
}

/** Query for one page of runs, the latest first. */
interface GuardrailRunPage extends GuardrailUseQuery {
  /** Null for all results. */
  readonly result: GuardrailRunResult | null;
  readonly limit: number;
  readonly offset: number;
}

/** Store of the use of guardrails. */
export interface GuardrailUseStore {
  /**
   * Adds a batch in one commit. A batch that was committed before adds nothing. Runs older than `keptFrom` are deleted.
   */
  add(batch: GuardrailUseBatch, now: Date, keptFrom: Date): Promise<void>;
  /** Counts by day and guardrail, sorted by day. */
  days(query: GuardrailUseQuery): Promise<readonly GuardrailDay[]>;
  runs(page: GuardrailRunPage): Promise<{ readonly runs: readonly GuardrailRun[]; readonly totalCount: number }>;
}

const RESULTS: Readonly<Record<string, GuardrailRunResult>> = {
  success: 'passed',
  guardrail_flagged: 'flagged',
  guardrail_intervened: 'intervened',
  guardrail_failed_to_respond: 'failed',
};

const NO_RUNS: readonly GuardrailRun[] = [];
const MS_PER_SECOND = 1_000;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** Members of a recorded call with the guardrails that ran. */
interface RanGuardrails {
  readonly spend: Pick<SpendRow, 'id' | 'modelGroup' | 'callId' | 'traceId' | 'keyHash' | 'teamId'> & {
    /** One entry for each run, in their order; absent where none ran. */
    readonly guardrails?: readonly object[] | null;
  };
}

/** The runs of guardrails on a call. */
export function runsOf({ spend }: RanGuardrails): readonly GuardrailRun[] {
  const { guardrails } = spend;
  if (guardrails === undefined || guardrails === null) return NO_RUNS;
  return guardrails.flatMap((one, index): readonly GuardrailRun[] => {
    const entry = new Map<string, unknown>(Object.entries(one));
    const result = RESULTS[textOf(entry.get('guardrail_status'))];
    if (result === undefined) return NO_RUNS;
    return [
      {
        id: `${spend.id}:${index}`,
        guardrailId: textOf(entry.get('guardrail_id')),
        name: textOf(entry.get('guardrail_name')),
        kind: textOf(entry.get('guardrail_provider')),
        result,
        mode: textOf(entry.get('guardrail_mode')),
        at: new Date(numberOf(entry.get('start_time')) * MS_PER_SECOND),
        latencyMs: numberOf(entry.get('duration')) * MS_PER_SECOND,
        model: spend.modelGroup,
        callId: spend.callId,
        traceId: spend.traceId,
        keyHash: spend.keyHash,
        teamId: spend.teamId,
      },
    ];
  });
}

const runsIn = ({ passed, flagged, intervened, failed }: GuardrailDay): number =>
  passed + flagged + intervened + failed;

/** Counts of runs, and the sum of their latencies. */
interface UseCounts extends Omit<GuardrailDay, 'day' | 'guardrailId' | 'name' | 'kind'> {
  readonly runs: number;
}

/** Use of one guardrail over several days, with the name and kind that it had on the last of them. */
export interface GuardrailUse extends UseCounts, Pick<GuardrailDay, 'guardrailId' | 'name' | 'kind'> {}

/** Use of all guardrails on one UTC day. */
export interface DailyUse extends UseCounts {
  readonly day: string;
}

/** Use by guardrail, the most used first. */
export function useByGuardrail(days: readonly GuardrailDay[]): readonly GuardrailUse[] {
  const groups = Map.groupBy(days, ({ guardrailId }) => guardrailId);
  return [...groups]
    .map(([guardrailId, ofGuardrail]) => {
      const { name = '', kind = '' } = ofGuardrail.at(-1) ?? {};
      return { guardrailId, name, kind, ...countsOf(ofGuardrail) };
    })
    .toSorted((one, other) => other.runs - one.runs);
}

function countsOf(days: readonly GuardrailDay[]): UseCounts {
  const sum = (of: (day: GuardrailDay) => number): number => days.reduce((total, day) => total + of(day), 0);
  return {
    passed: sum(({ passed }) => passed),
    flagged: sum(({ flagged }) => flagged),
    intervened: sum(({ intervened }) => intervened),
    failed: sum(({ failed }) => failed),
    latencyMs: sum(({ latencyMs }) => latencyMs),
    runs: sum(runsIn),
  };
}

/** Use by day, over all guardrails. */
export const useByDay = (days: readonly GuardrailDay[]): readonly DailyUse[] =>
  [...Map.groupBy(days, ({ day }) => day)].map(([day, ofDay]) => ({ day, ...countsOf(ofDay) }));
