import { CHOSEN_DIFFERENCES, textOf } from './chosen-differences.ts';
import { type RecordedCase, type ReplayedAnswer, shapeOf } from './recordings.ts';

/** Comparison of a replayed case with the recorded case. */
export interface CaseComparison {
  readonly name: string;
  /** Null when the answers are equal. */
  readonly difference: string | null;
  readonly isStatusEqual: boolean;
}

/** Compares status and shape. `name` has the form `file: name of the case`. */
export function compare(
  name: string,
  recorded: RecordedCase,
  answer: Pick<ReplayedAnswer, 'status' | 'text'>,
): CaseComparison {
  const isStatusEqual = answer.status === recorded.status;
  const [theirs, ours] = [shapeOf(recorded.response_body).join(' '), shapeOf(answer.text).join(' ')];
  const isEqual = isStatusEqual && (recorded.truncated !== undefined || theirs === ours);
  const difference = `${name}: ${recorded.status} -> ${answer.status}\n  theirs ${theirs}\n  ours   ${ours}`;
  return { name, isStatusEqual, difference: isEqual ? null : difference };
}

/** Unintended differences. */
export const unexplained = (all: readonly CaseComparison[]): readonly (string | null)[] =>
  all
    .filter(({ name, difference }) => difference !== null && !CHOSEN_DIFFERENCES.has(name))
    .map(({ difference }) => difference);

/** Names of cases of these files that are listed as different and are equal. */
export function neverDifferent(all: readonly CaseComparison[], files: readonly string[]): readonly string[] {
  const different = new Set(all.filter(({ difference }) => difference !== null).map(({ name }) => name));
  const listed = [...CHOSEN_DIFFERENCES.keys()].filter((name) => files.some((file) => name.startsWith(`${file}: `)));
  return listed.filter((name) => !different.has(name));
}

/**
 * Reasons of cases that are not counted. The first two are failures of the reference, and invented bodies of its fake
 * upstream. The last two are decisions of the project: errors in the formats of Anthropic and Google, and model
 * look-ups for every key.
 */
const NOT_COUNTED = new Set(['referenceFailure', 'ourObjects', 'nativeBodies', 'anyKey']);

/** Numbers of cases, equal statuses and equal shapes, without the cases in `NOT_COUNTED`. */
export function countEqual(all: readonly CaseComparison[]) {
  const counted = all.filter(({ name }) => !NOT_COUNTED.has(CHOSEN_DIFFERENCES.get(name) ?? ''));
  return {
    cases: counted.length,
    statuses: counted.filter(({ isStatusEqual }) => isStatusEqual).length,
    shapes: counted.filter(({ difference }) => difference === null).length,
  };
}

/** Report with the numbers of equal answers, and each difference with its reason. */
export function report(all: readonly CaseComparison[]): string {
  const { cases, statuses, shapes } = countEqual(all);
  const lines = all.flatMap(({ name, difference }) => {
    const reason = CHOSEN_DIFFERENCES.get(name);
    return difference === null ? [] : [`${difference}\n  ${reason === undefined ? 'UNEXPLAINED' : textOf(reason)}`];
  });
  const total = `${cases} of ${all.length} cases are counted: ${statuses} statuses and ${shapes} shapes are equal.`;
  return [...lines, total].join('\n');
}
