import { Secret } from '../../domain/secret.ts';

// Structured cloning loses the class of a secret and its value: a secret is carried as a marked object.

type Entries = Readonly<Record<string, unknown>>;

const isPlain = (value: object): value is Entries => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const mapped = (value: Entries, each: (inner: unknown) => unknown): Entries =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]));

/** A value whose secrets are marked objects. Functions are left out. */
export function carried(value: unknown, mark: string): unknown {
  if (value instanceof Secret) return { [mark]: value.reveal() };
  if (Array.isArray(value)) return value.map((item) => carried(item, mark));
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  return mapped(Object.fromEntries(Object.entries(value).filter(([, inner]) => typeof inner !== 'function')), (inner) =>
    carried(inner, mark),
  );
}

/** The opposite of `carried`. */
export function revived(value: unknown, mark: string): unknown {
  if (Array.isArray(value)) return value.map((item) => revived(item, mark));
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  const secret = value[mark];
  return typeof secret === 'string' ? new Secret(secret) : mapped(value, (inner) => revived(inner, mark));
}
