import { CHOSEN_DIFFERENCES, textOf } from './chosen-differences.ts';
import { type RecordedCase, type ReplayedAnswer, shapeOf } from './recordings.ts';

/** A replayed case beside the recorded one. */
export interface Compared {
  readonly name: string;
  /** Null when the answers are equal. */
  readonly difference: string | null;
  readonly isStatusEqual: boolean;
}

/** Compares status and shape. `name` is `file: name of the case`. */
export function compare(name: string, one: RecordedCase, answer: Pick<ReplayedAnswer, 'status' | 'text'>): Compared {
  const isStatusEqual = answer.status === one.status;
  const [theirs, ours] = [shapeOf(one.response_body).join(' '), shapeOf(answer.text).join(' ')];
  const isEqual = isStatusEqual && (one.truncated !== undefined || theirs === ours);
  const difference = `${name}: ${one.status} -> ${answer.status}\n  theirs ${theirs}\n  ours   ${ours}`;
  return { name, isStatusEqual, difference: isEqual ? null : difference };
}

/** Differences that are not chosen. */
export const unexplained = (all: readonly Compared[]): readonly (string | null)[] =>
  all
    .filter(({ name, difference }) => difference !== null && !CHOSEN_DIFFERENCES.has(name))
    .map(({ difference }) => difference);

/** Cases of some files that are listed as chosen differences and are equal. */
export function neverDifferent(all: readonly Compared[], files: readonly string[]): readonly string[] {
  const different = new Set(all.filter(({ difference }) => difference !== null).map(({ name }) => name));
  const listed = [...CHOSEN_DIFFERENCES.keys()].filter((name) => files.some((file) => name.startsWith(`${file}: `)));
  return listed.filter((name) => !different.has(name));
}

/**
 * Reasons of cases that are not counted: failures of the reference, bodies that its fake upstream made up, and two
 * decisions of the project: errors in the formats of Anthropic and Google, and model look-ups for every key.
 */
const NOT_COUNTED = new Set(['ownFailure', 'ourObjects', 'nativeBodies', 'anyKey']);

/** Numbers of cases and of equal answers. A difference that is not counted counts as neither. */
export function equalsOf(all: readonly Compared[]) {
  const counted = all.filter(({ name }) => !NOT_COUNTED.has(CHOSEN_DIFFERENCES.get(name) ?? ''));
  return {
    cases: counted.length,
    statuses: counted.filter(({ isStatusEqual }) => isStatusEqual).length,
    shapes: counted.filter(({ difference }) => difference === null).length,
  };
}

/** Equal answers in numbers, and every difference with its reason. */
export function report(all: readonly Compared[]): string {
  const { cases, statuses, shapes } = equalsOf(all);
  const lines = all.flatMap(({ name, difference }) => {
    const reason = CHOSEN_DIFFERENCES.get(name);
    return difference === null ? [] : [`${difference}\n  ${reason === undefined ? 'UNEXPLAINED' : textOf(reason)}`];
  });
  const total = `${cases} of ${all.length} cases are counted: ${statuses} statuses and ${shapes} shapes are equal.`;
  return [...lines, total].join('\n');
}
