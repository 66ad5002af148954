import { InvalidInput } from '../errors.ts';

/** Longest tag and longest end user that sums of calls are kept by, in characters. */
export const MOST_LABEL_CHARACTERS = 100;

/** A tag or an end user as sums of calls name it. Characters are code points, as SQL counts them. */
export const cutLabel = (label: string): string =>
  label.length <= MOST_LABEL_CHARACTERS ? label : Array.from(label).slice(0, MOST_LABEL_CHARACTERS).join('');

/** Refuses the name of a tag or a customer that the sums of its calls would cut. Throws InvalidInput. */
export function assertLabel(field: string, label: string): void {
  if (cutLabel(label) === label) return;
  const message = `Value error, a name has at most ${MOST_LABEL_CHARACTERS} characters`;
  throw new InvalidInput(message, [{ path: ['body', field], rule: 'value_error', message }]);
}
