import {
  type CalibrationGroup,
  fittedTemperature,
  type JudgedAnswer,
  qualityOf,
} from '../../domain/decisions/calibration.ts';
import type { CalibrationReport, Calibrations, DecisionOutcome, OutcomeStore } from '../../domain/decisions/outcome.ts';

/** Outcomes that are read: the latest. */
const MOST_OUTCOMES = 20_000;
const LATEST = { filter: null, sort: 'updated_at', descending: true, from: 0 } as const;

const keyOf = ({ model, kind, source }: CalibrationGroup): string => JSON.stringify([model, kind, source]);

function reportOf({ model, kind, source }: CalibrationGroup, answers: readonly JudgedAnswer[]): CalibrationReport {
  const temperature = fittedTemperature(answers);
  return {
    model,
    kind,
    source,
    outcomes: answers.length,
    temperature,
    raw: qualityOf(kind, answers, 1),
    fitted: temperature === null ? null : qualityOf(kind, answers, temperature),
  };
}

/** Fits of the latest outcomes in the store. They are fitted again only after a change. */
export function createCalibrations(store: Pick<OutcomeStore, 'list'>): Calibrations {
  let reports: ReadonlyMap<string, CalibrationReport> = new Map();
  let newest: string | null = null;
  let running: Promise<void> | null = null;

  const markOf = (outcome: DecisionOutcome): string => `${outcome.updatedAt.getTime()} ${outcome.id}`;

  async function read(): Promise<void> {
    const [latest] = await store.list({ ...LATEST, limit: 1 });
    if (latest === undefined || markOf(latest) === newest) return;
    const outcomes = await store.list({ ...LATEST, limit: MOST_OUTCOMES });
    reports = new Map(
      [...Map.groupBy(outcomes, keyOf)]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .flatMap(([key, group]) => {
          const [first] = group;
          return first === undefined ? [] : [[key, reportOf(first, group)] as const];
        }),
    );
    newest = markOf(outcomes[0] ?? latest);
  }

  return {
    temperatureOf: (group) => reports.get(keyOf(group))?.temperature ?? null,
    reports: () => [...reports.values()],
    async refresh() {
      // A read that began before a change does not contain it.
      await running?.catch(() => undefined);
      running ??= read().finally(() => {
        running = null;
      });
      await running;
    },
  };
}
