import { InvalidInput } from './errors.ts';

interface SizeRule {
  /** Argument that holds the size; `first` when absent. */
  readonly name?: 'first' | 'last';
  /** Smallest size; 1 when absent. */
  readonly min?: 0 | 1;
  /** Largest size. */
  readonly max: number;
}

/** The size of a page, when it is a whole number within the rule. Throws InvalidInput that names the argument. */
export function checkedPageSize(size: number, { name = 'first', min = 1, max }: SizeRule): number {
  if (Number.isInteger(size) && size >= min && size <= max) return size;
  const message = `must be between ${min} and ${max}`;
  throw new InvalidInput(`\`${name}\` ${message}.`, [{ path: [name], rule: 'range', message, input: size }]);
}
