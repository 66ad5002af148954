import { setImmediate } from 'node:timers/promises';
import {
  type CalibrationGroup,
  fittedTemperature,
  type JudgedAnswer,
  PLATFORM_SCOPE,
  qualityOf,
} from '../../domain/decisions/calibration.ts';
import type { CalibrationReport, Calibrations, DecisionOutcome, OutcomeStore } from '../../domain/decisions/outcome.ts';

/** Maximum number of outcomes that are read: the latest of each scope, and in all. */
const LIMITS = { perScope: 5_000, limit: 20_000 } as const;
/** Query for the outcome that was changed last. */
const LATEST = { filter: null, sort: 'updated_at', descending: true, from: 0, limit: 1 } as const;

const keyOf = ({ model, kind, source }: CalibrationGroup, scope: string): string =>
  JSON.stringify([scope, model, kind, source]);

interface CachedReport {
  /** Text of the number of outcomes in the report, and the time and id of the latest. A changed outcome changes it. */
  readonly mark: string;
  readonly report: CalibrationReport;
}

const markOf = ({ updatedAt, id }: DecisionOutcome): string => `${updatedAt.getTime()} ${id}`;

function reportOf(
  { scope, model, kind, source }: DecisionOutcome,
  answers: readonly JudgedAnswer[],
): CalibrationReport {
  const temperature = fittedTemperature(answers);
  return {
    scope,
    model,
    kind,
    source,
    outcomes: answers.length,
    temperature,
    raw: qualityOf(kind, answers, 1),
    fitted: temperature === null ? null : qualityOf(kind, answers, temperature),
  };
}

/**
 * Calibrations fitted to the latest outcomes in the store, by scope. A group is fitted again only after a change of its
 * outcomes.
 */
export function createCalibrations(store: Pick<OutcomeStore, 'list' | 'latest'>): Calibrations {
  let fits: ReadonlyMap<string, CachedReport> = new Map();
  let newestMark: string | null = null;
  let running: Promise<void> | null = null;

  async function read(): Promise<void> {
    const [latest] = await store.list(LATEST);
    if (latest === undefined || markOf(latest) === newestMark) return;
    const outcomes = await store.latest(LIMITS);
    const groups = Map.groupBy(outcomes, (one) => keyOf(one, one.scope));
    const next = new Map<string, CachedReport>();
    for (const [key, group] of [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      // The outcomes of a group are sorted, latest first.
      const [newest] = group;
      if (newest === undefined) continue;
      const mark = `${group.length} ${markOf(newest)}`;
      const known = fits.get(key);
      next.set(key, known?.mark === mark ? known : { mark, report: reportOf(newest, group) });
      // Yields to the event loop: a fit of many outcomes takes milliseconds.
      if (known?.mark !== mark) await setImmediate();
    }
    fits = next;
    newestMark = markOf(latest);
  }

  return {
    temperatureOf: (group, scope) =>
      fits.get(keyOf(group, scope))?.report.temperature ??
      fits.get(keyOf(group, PLATFORM_SCOPE))?.report.temperature ??
      null,
    reports: () => [...fits.values()].map(({ report }) => report),
    async refresh() {
      // A running read may have begun before the latest change.
      await running?.catch(() => undefined);
      running ??= read().finally(() => {
        running = null;
      });
      await running;
    },
  };
}
