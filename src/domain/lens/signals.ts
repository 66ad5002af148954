import type { RowStore, Stamps } from '../row-store.ts';
import { InvalidInput, type Issue } from '../errors.ts';

/** A yes/no question about every new trace. */
export interface Signal {
  /** Lower snake case, at most 64 characters. */
  readonly id: string;
  readonly name: string;
  readonly question: string;
}

/** Questions, and the model that answers them. Without a model or a signal, no question is asked. */
export interface SignalConfig {
  readonly model: string;
  /** Lowest probability of a yes that is flagged, 0.05 to 0.95. */
  readonly threshold: number;
  readonly signals: readonly Signal[];
}

/** The stored configuration, the only row of its table. */
export interface StoredSignalConfig extends SignalConfig, Stamps {
  readonly id: string;
}

export const SIGNAL_CONFIG_ID = 'global';

/** Maximum number of signals, and limits of their texts in characters. */
export const SIGNAL_LIMITS = { maxSignals: 20, maxName: 60, minQuestion: 3, maxQuestion: 500 } as const;
/** Bounds of the threshold. */
export const THRESHOLDS = { least: 0.05, most: 0.95 } as const;

export const DEFAULT_SIGNALS: SignalConfig = {
  model: '',
  threshold: 0.5,
  signals: [
    {
      id: 'user_frustration',
      name: 'User frustration',
      question: 'Is the user annoyed or dissatisfied with the agent in this run, or does the user complain or give up?',
    },
    {
      id: 'missing_capability',
      name: 'Missing capability',
      question: 'Does the user ask in this run for something that the agent cannot do?',
    },
    {
      id: 'repeated_request',
      name: 'Repeated request',
      question: 'Does the user have to ask for the same thing again in this run?',
    },
  ],
};

/** Answers about one trace. */
export interface TraceSignals extends Stamps {
  /** Made by `signalRowId`. */
  readonly id: string;
  readonly traceId: string;
  /** Handle of the trace of one owner: several owners may use one trace id. */
  readonly traceRef: string;
  /** Hash of the model and the questions that were asked. */
  readonly configKey: string;
  /** Spans of the trace when it was read. */
  readonly spanCount: number;
  readonly status: 'pending' | 'classified' | 'failed';
  readonly model: string;
  /** Probability of a yes, by the id of the signal. */
  readonly scores: readonly { readonly signalId: string; readonly score: number }[];
  /** Start of the trace, in Unix ms. */
  readonly traceStartMs: number;
  /** Time of the last attempt, Unix ms. */
  readonly askedMs: number;
}

interface TraceSignalFilter {
  readonly ids: readonly string[] | null;
  readonly traceBeforeMs: number | null;
}

export type SignalConfigStore = RowStore<StoredSignalConfig, null>;
export type TraceSignalStore = RowStore<TraceSignals, TraceSignalFilter>;

export const signalRowId = ({ traceId, traceRef }: { readonly traceId: string; readonly traceRef: string }): string =>
  `${traceId}:${traceRef}`;

/** A flag of a trace: a signal whose probability reached the threshold. */
export interface SignalFlag {
  readonly signalId: string;
  readonly name: string;
  readonly score: number;
}

/** The flags of a trace by the current configuration, the highest first. */
export const flagsOf = ({ scores }: Pick<TraceSignals, 'scores'>, config: SignalConfig): readonly SignalFlag[] =>
  config.signals
    .flatMap(({ id, name }) =>
      scores
        .filter(({ signalId, score }) => signalId === id && score >= config.threshold)
        .map(({ score }): SignalFlag => ({ signalId: id, name, score })),
    )
    .toSorted((left, right) => right.score - left.score);

/** Settings that the answers depend on: the model and the questions. Names and the threshold do not change them. */
export const questionsOf = ({ model, signals }: SignalConfig): string =>
  JSON.stringify([model, signals.map(({ id, question }) => [id, question])]);

/**
 * Time in ms after which the questions about a trace are asked again, by status. `classified`: the trace has new
 * spans. `pending`: the asking process was lost.
 */
const REPEAT_AFTER_MS = { classified: 300_000, failed: 1_800_000, pending: 300_000 } as const;

/** Whether the questions about a trace are due. */
export function areQuestionsDue(
  trace: { readonly spanCount: number },
  row: TraceSignals | undefined,
  configKey: string,
  nowMs: number,
): boolean {
  if (row === undefined || row.configKey !== configKey) return true;
  if (row.status === 'classified' && row.spanCount === trace.spanCount) return false;
  return nowMs - row.askedMs >= REPEAT_AFTER_MS[row.status];
}

/**
 * Prefix of the trace ids of model calls that answer signals: `lens-sig` in hex. Signals and lenses skip traces with
 * this prefix.
 */
const CALLS_PREFIX = '6c656e732d736967';

export const signalCallTrace = (random: string): string => `${CALLS_PREFIX}${random}`;
export const isSignalCall = (traceId: string): boolean => traceId.startsWith(CALLS_PREFIX);

const SIGNAL_ID = /^[a-z][a-z0-9_]{0,63}$/;

/** Throws InvalidInput with a list of the faults. */
export function assertSignalConfig(config: SignalConfig): SignalConfig {
  const { threshold, signals } = config;
  const issues: Issue[] = [];
  const addIssue = (name: string, message: string): void =>
    void issues.push({ path: ['body', name], rule: 'range', message });
  const isThreshold = threshold >= THRESHOLDS.least && threshold <= THRESHOLDS.most;
  if (!isThreshold) addIssue('threshold', `Input should be ${THRESHOLDS.least} to ${THRESHOLDS.most}`);
  const { maxSignals, maxName, minQuestion, maxQuestion } = SIGNAL_LIMITS;
  for (const { id, name, question } of signals) {
    if (!SIGNAL_ID.test(id)) addIssue('signals', `The id ${id.slice(0, 64)} is not lower snake case`);
    if (name.length === 0 || name.length > maxName) addIssue('signals', `A name has 1 to ${maxName} characters`);
    if (question.length < minQuestion || question.length > maxQuestion)
      addIssue('signals', `A question has ${minQuestion} to ${maxQuestion} characters`);
  }
  const addListIssue = (message: string): void =>
    void issues.push({ path: ['body', 'signals'], rule: 'value_error', message });
  if (signals.length > maxSignals) addListIssue(`Value error, A maximum of ${maxSignals} signals is allowed`);
  else if (new Set(signals.map(({ id }) => id)).size < signals.length)
    addListIssue('Value error, Signal IDs must be unique');
  if (issues.length > 0) throw new InvalidInput('The signals are not valid.', issues);
  return config;
}
