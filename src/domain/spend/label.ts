import { InvalidInput } from '../errors.ts';

/** Maximum length of a tag or end user in sums of calls, in characters. */
export const MAX_LABEL_CHARACTERS = 100;

/**
 * A tag or an end user as it is named in sums of calls, cut to `MAX_LABEL_CHARACTERS`. Characters are code points, as
 * in SQL.
 */
export const truncateLabel = (label: string): string =>
  label.length <= MAX_LABEL_CHARACTERS ? label : Array.from(label).slice(0, MAX_LABEL_CHARACTERS).join('');

/** Refuses a name of a tag or of a customer (an end user) that would be cut in sums of calls. Throws InvalidInput. */
export function assertLabel(field: string, label: string): void {
  if (truncateLabel(label) === label) return;
  const message = `Value error, a name has at most ${MAX_LABEL_CHARACTERS} characters`;
  throw new InvalidInput(message, [{ path: ['body', field], rule: 'value_error', message }]);
}
