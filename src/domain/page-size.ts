import { InvalidInput } from './errors.ts';

interface SizeRule {
  /** Argument that holds the size; `first` when absent. */
  readonly name?: 'first' | 'last';
  /** Smallest size; 1 when absent. */
  readonly least?: 0 | 1;
  /** Largest size. */
  readonly most: number;
}

/** The size of a page, when it is a whole number within the rule. Throws InvalidInput that names the argument. */
export function checkedPageSize(size: number, { name = 'first', least = 1, most }: SizeRule): number {
  if (Number.isInteger(size) && size >= least && size <= most) return size;
  const message = `must be between ${least} and ${most}`;
  throw new InvalidInput(`\`${name}\` ${message}.`, [{ path: [name], rule: 'range', message, input: size }]);
}
