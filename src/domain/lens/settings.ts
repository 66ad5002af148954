import { compare } from '../compare.ts';
import { InvalidInput, type Issue } from '../errors.ts';

/** A rule that reviewers judge executions by. */
export interface Check {
  readonly id: string;
  readonly instruction: string;
  readonly enabled: boolean;
}

/** An attribute that one span of an execution must have. */
interface AttributeFilter {
  readonly key: string;
  readonly value: string;
}

/** Selection of the executions of a lens. */
export interface Selection {
  readonly source: 'traces';
  /** Empty for every service. */
  readonly service: string;
  /** Empty for every agent. */
  readonly agentName: string;
  /** All must match on the same span. */
  readonly filters: readonly AttributeFilter[];
  /** Maximum number of executions, applied after the percentage; null for no limit. */
  readonly sampleSize: number | null;
  /** Above 0, at most 100. */
  readonly samplePercent: number;
  /** Empty for every team. */
  readonly teamId: string;
  /** Ids from a preview; empty for all executions of the window. */
  readonly executionIds: readonly string[];
}

/** Settings of a lens. */
export interface LensSettings extends Selection {
  readonly name: string;
  /** Expected behaviour; may be empty when a check is enabled. */
  readonly context: string;
  readonly lookbackHours: number;
  readonly checks: readonly Check[];
  readonly model: string;
  /** Whether runs repeat on schedule. */
  readonly enabled: boolean;
  readonly intervalMinutes: number;
  /** Requested number of simultaneous model calls of a run. */
  readonly concurrency: number;
  /** USD in a calendar month, UTC. */
  readonly monthlyBudget: number;
}

/** Id of the check that is made from the description of the expected behaviour. */
const EXPECTED_BEHAVIOR = 'expected_behavior';

/** Maximum number of simultaneous model calls of a run. Settings may name a larger number. */
const MAX_CONCURRENCY = 256;

/** Number of simultaneous model calls of a run with these settings. */
export const concurrencyOf = ({ concurrency }: Pick<LensSettings, 'concurrency'>): number =>
  Math.min(concurrency, MAX_CONCURRENCY);

/** Maximum look back and maximum interval, in hours: 114 years. Later times may exceed the range of `Date`. */
const MAX_HOURS = 1_000_000;
const MAX_INTERVAL_MINUTES = MAX_HOURS * 60;

/** A fault of the whole body, in the form of the reference service. */
const broken = (text: string): InvalidInput => faulty([issueAt(['body'], text)]);
const faulty = (issues: readonly Issue[]): InvalidInput => new InvalidInput('The body is not valid.', issues);

const issueAt = (path: readonly (string | number)[], text: string): Issue => ({
  path,
  rule: 'value_error',
  message: `Value error, ${text}`,
});

type Bound = readonly [name: string, isWithin: boolean, text: string];

const sampleBounds = ({
  samplePercent,
  sampleSize,
}: Pick<Selection, 'samplePercent' | 'sampleSize'>): readonly Bound[] => [
  ['sample_percent', samplePercent > 0 && samplePercent <= 100, 'must be above 0 and at most 100'],
  ['sample_size', sampleSize === null || sampleSize >= 1, 'must be at least 1'],
];
const lookbackBound = (hours: number): Bound => ['lookback_hours', hours >= 1, 'must be at least 1'];

function assertWithin(bounds: readonly Bound[]): void {
  const outside = bounds.filter(([, isWithin]) => !isWithin);
  if (outside.length > 0) throw faulty(outside.map(([name, , text]) => issueAt(['body', name], text)));
}

/** Throws InvalidInput for the numbers of a preview that are out of bounds. */
export function assertPreview(selection: Selection, lookbackHours: number, offset: number): void {
  assertWithin([
    ...sampleBounds(selection),
    lookbackBound(lookbackHours),
    ['offset', offset >= 0, 'must be at least 0'],
  ]);
}

/** Throws InvalidInput for numbers out of bounds. */
function assertBounds(settings: LensSettings): void {
  const { lookbackHours, intervalMinutes, concurrency, monthlyBudget } = settings;
  assertWithin([
    ...sampleBounds(settings),
    lookbackBound(lookbackHours),
    ['interval_minutes', intervalMinutes >= 1, 'must be at least 1'],
    ['concurrency', concurrency >= 1, 'must be at least 1'],
    ['monthly_budget', monthlyBudget > 0 && Number.isFinite(monthlyBudget), 'must be above 0'],
  ]);
}

/** Throws InvalidInput for numbers out of bounds, an empty name, and missing or invalid checks. */
function assertLensSettings(settings: LensSettings): void {
  assertBounds(settings);
  const { checks, context, name } = settings;
  if (name === '') throw faulty([issueAt(['body', 'name'], 'must not be empty')]);
  const isIncomplete = checks.some(({ id, instruction }) => id === '' || instruction.length < 3);
  if (isIncomplete) throw broken('Each check needs an ID and an instruction of at least 3 characters');
  const ids = checks.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw broken('Each check must have a unique ID');
  if (ids.includes(EXPECTED_BEHAVIOR)) throw broken(`${EXPECTED_BEHAVIOR} is reserved for the behavior description`);
  if (context.trim() === '' && !checks.some(({ enabled }) => enabled))
    throw broken('Describe expected behavior or add an enabled check');
}

/** Throws InvalidInput for a look back of less than an hour, and of more than `MAX_HOURS`. */
export function assertLookback(hours: number, path: readonly (string | number)[]): void {
  if (hours < 1) throw faulty([issueAt(path, 'must be at least 1')]);
  if (hours > MAX_HOURS) throw faulty([issueAt(path, 'Lookback exceeds the supported calendar range')]);
}

/** Throws InvalidInput for a window with one end only, and for one that does not end after its start. */
export function assertWindow(start: Date | null, end: Date | null): void {
  if ((start === null) !== (end === null)) throw broken('Choose both a start and an end time');
  if (start !== null && end !== null && start >= end) throw broken('Start time must be before end time');
}

/** The checks of a run: the expected behaviour first, then the enabled ones. */
export function enabledChecks({ context, checks }: Pick<LensSettings, 'context' | 'checks'>): readonly Check[] {
  const behavior = context.trim();
  const first = behavior === '' ? [] : [{ id: EXPECTED_BEHAVIOR, instruction: behavior, enabled: true }];
  return [...first, ...checks.filter(({ enabled }) => enabled)];
}

/**
 * Canonical text of the criteria of a cached review: expected behaviour, enabled checks and model. The order of checks
 * and surrounding white space have no effect. `version` is the version of the prompts.
 */
export function criteriaOf({ context, checks, model }: LensSettings, version: number): string {
  const criteria = checks
    .filter(({ enabled }) => enabled)
    .map(({ id, instruction }) => [id, instruction.trim()])
    .toSorted(([left = ''], [right = '']) => compare(left, right));
  return JSON.stringify([version, context.trim(), criteria, model]);
}

/** Throws InvalidInput for invalid settings. Needs no store. */
export const assertLensInput = (settings: LensSettings): LensSettings => {
  assertLensSettings(settings);
  assertLookback(settings.lookbackHours, ['body', 'lookback_hours']);
  if (settings.intervalMinutes > MAX_INTERVAL_MINUTES)
    throw faulty([issueAt(['body', 'interval_minutes'], 'Interval exceeds the supported calendar range')]);
  return settings;
};
