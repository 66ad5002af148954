import { isJsonObject } from '../../domain/json-object.ts';
import { isDuration, type ProviderBudgets, readProviderBudgets } from '../../domain/budgets/route-budget.ts';
import type { ModelAlias } from '../../domain/routing/model-aliases.ts';
import { Secret } from '../../domain/secret.ts';
import { valueFaults } from '../../domain/settings/value-faults.ts';

/** Why a value is refused. */
export interface Refusal {
  /** Unless `complete`, the rest of a sentence that begins with the value, e.g. `is not a number`. */
  readonly message: string;
  /** Index or key of the wrong part of a list or map. */
  readonly path?: readonly (string | number)[];
  /** Whether the message is a whole sentence. */
  readonly complete?: boolean;
}

/** Result of reading a value; `unset` when the value means that the setting is not set. */
type Parsed<Value> = { readonly value: Value } | { readonly refusals: readonly Refusal[] } | { readonly unset: true };

/** A type of setting: what it accepts. `raw` is a text from an argument or variable, or any value of the file. */
export interface Kind<Value> {
  /** Accepted values, for help and documentation; empty for any text. */
  readonly form: string;
  /** Whether messages must not repeat the value. */
  readonly isSecret: boolean;
  parse(raw: unknown, from: 'text' | 'file'): Parsed<Value>;
}

const UNSET = { unset: true } as const;
const refuse = (message: string): Parsed<never> => ({ refusals: [{ message }] });

function kind<Value>(
  form: string,
  parse: Kind<Value>['parse'],
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): Kind<Value> {
  return { form, isSecret, parse };
}

/** A whole number. A file may give it as text, because references to variables are texts. */
export function integer(min: number, max: number): Kind<number> {
  const form = `whole number from ${min} to ${max}`;
  return kind<number>(form, (raw) => {
    const isDigits = typeof raw === 'string' && /^\d+$/.test(raw);
    const number = isDigits ? Number(raw) : raw;
    const isWithin = typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max;
    return isWithin ? { value: number } : refuse(`is not a ${form}`);
  });
}

/** A number within bounds; `above` excludes the lower one. */
export function decimal(bounds: {
  readonly from?: number;
  readonly above?: number;
  readonly to?: number;
}): Kind<number> {
  const { from, above, to = Infinity } = bounds;
  const isUnbounded = to === Infinity;
  const form =
    above === undefined
      ? `number from ${from ?? 0}${isUnbounded ? '' : ` to ${to}`}`
      : `number above ${above}${isUnbounded ? '' : `, at most ${to}`}`;
  return kind<number>(form, (raw) => {
    const isText = typeof raw === 'string' && /^\d+(\.\d+)?$/.test(raw);
    const number = isText ? Number(raw) : raw;
    if (typeof number !== 'number') return refuse(`is not a ${form}`);
    const isAboveLower = above === undefined ? number >= (from ?? 0) : number > above;
    const isWithin = isAboveLower && number <= to;
    return isWithin ? { value: number } : refuse(`is not a ${form}`);
  });
}

/** A size in megabytes of 1,048,576 bytes, read as whole bytes. */
export function megabytes(): Kind<number> {
  const { form, isSecret, parse } = decimal({ above: 0 });
  return {
    form,
    isSecret,
    parse(raw, from) {
      const parsed = parse(raw, from);
      return 'value' in parsed ? { value: Math.floor(parsed.value * 1024 * 1024) } : parsed;
    },
  };
}

export function flag(): Kind<boolean> {
  return kind<boolean>('true or false', (raw) => {
    if (typeof raw === 'boolean') return { value: raw };
    if (typeof raw === 'string' && /^(true|false)$/i.test(raw)) return { value: raw.toLowerCase() === 'true' };
    return refuse('is neither true nor false');
  });
}

/** One of several texts; numbers in a file are compared as texts. */
export function choice<const Choice extends string>(choices: readonly Choice[]): Kind<Choice> {
  return kind<Choice>(choices.join(', '), (raw) => {
    const written = typeof raw === 'number' ? String(raw) : raw;
    if (written === '') return UNSET;
    const match = choices.find((one) => one === written);
    return match === undefined ? refuse(`is not one of ${choices.join(', ')}`) : { value: match };
  });
}

/** A text. `check` returns why it is refused. */
export function text(form = '', check: (value: string) => string | null = () => null): Kind<string> {
  return kind(form, (raw) => textOf(raw, check));
}

/** A text that no message repeats, because it may contain a password. */
export function secretText(form: string, check: (value: string) => string | null = () => null): Kind<string> {
  return kind(form, (raw) => textOf(raw, check), { isSecret: true });
}

/**
 * A secret. Unless `emptyIsUnset`, an empty text in the file is refused, so that a required secret is not lost
 * silently.
 */
export function secret(
  form = '',
  check: (value: string) => string | null = () => null,
  { emptyIsUnset = true }: { readonly emptyIsUnset?: boolean } = {},
): Kind<Secret> {
  return kind<Secret>(
    form,
    (raw) => {
      if (raw === '' && !emptyIsUnset) return refuse(check('') ?? 'is empty');
      const parsed = textOf(raw, check);
      return 'value' in parsed ? { value: new Secret(parsed.value) } : parsed;
    },
    { isSecret: true },
  );
}

function textOf(raw: unknown, check: (value: string) => string | null): Parsed<string> {
  if (raw === '') return UNSET;
  if (typeof raw !== 'string') return refuse('is not a text');
  const message = check(raw);
  return message === null ? { value: raw } : refuse(message);
}

/**
 * A list: comma-separated in a variable, a list in the file. `check` returns why an item is refused; nothing is added
 * to its message.
 */
export function list(form: string, check: (item: string) => string | null): Kind<readonly string[]> {
  return kind<readonly string[]>(`list of ${form}`, (raw, from) => {
    const items: unknown = from === 'text' && typeof raw === 'string' ? entriesOf(raw) : raw;
    if (!Array.isArray(items)) return refuse('is not a list');
    if (from === 'text' && items.length === 0) return UNSET;
    const refusals = items.flatMap((item: unknown, index): readonly Refusal[] => {
      const path = from === 'file' ? [index] : [];
      if (typeof item !== 'string') return [{ message: 'is not a text', path }];
      const message = check(item);
      return message === null ? [] : [{ message, path, complete: true }];
    });
    return refusals.length > 0 ? { refusals } : { value: items as readonly string[] };
  });
}

const entriesOf = (raw: string): readonly string[] =>
  raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** A map of texts in the file, or one text. No message repeats it. */
export function textOrMap(form: string): Kind<string | Readonly<Record<string, string>>> {
  return kind<string | Readonly<Record<string, string>>>(
    form,
    (raw) => {
      if (typeof raw === 'string') return raw === '' ? UNSET : { value: raw };
      if (!isJsonObject(raw)) return refuse('is not a map of texts');
      const wrong = Object.entries(raw).filter(([, item]) => typeof item !== 'string');
      if (wrong.length > 0) return { refusals: wrong.map(([name]) => ({ message: 'is not a text', path: [name] })) };
      return { value: raw as Readonly<Record<string, string>> };
    },
    { isSecret: true },
  );
}

/** A map of whole numbers by name in the file. */
export function countsByClass(names: readonly string[], max: number): Kind<Readonly<Record<string, number>>> {
  return kind<Readonly<Record<string, number>>>(`map of whole numbers from 0 to ${max}`, (raw) => {
    const { value, refusals } = countsIn(raw, { names, max, path: [] });
    return refusals.length > 0 ? { refusals } : { value };
  });
}

/** Maps of whole numbers by name, for each model. */
export function countsByModel(
  names: readonly string[],
  max: number,
): Kind<Readonly<Record<string, Readonly<Record<string, number>>>>> {
  const form = `map of models to maps of whole numbers from 0 to ${max}`;
  return kind<Readonly<Record<string, Readonly<Record<string, number>>>>>(form, (raw) => {
    if (!isJsonObject(raw)) return refuse('is not a map of models');
    const read = Object.entries(raw).map(
      ([model, counts]) => [model, countsIn(counts, { names, max, path: [model] })] as const,
    );
    const refusals = read.flatMap(([, counts]) => counts.refusals);
    return refusals.length > 0
      ? { refusals }
      : { value: Object.fromEntries(read.map(([model, { value }]) => [model, value])) };
  });
}

function countsIn(
  raw: unknown,
  { names, max, path }: { readonly names: readonly string[]; readonly max: number; readonly path: readonly string[] },
): { readonly value: Readonly<Record<string, number>>; readonly refusals: readonly Refusal[] } {
  if (!isJsonObject(raw)) return { value: {}, refusals: [{ message: 'is not a map of numbers', path }] };
  const value: Record<string, number> = {};
  const refusals: Refusal[] = [];
  for (const [name, count] of Object.entries(raw)) {
    const isCount = typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= max;
    if (!names.includes(name)) refusals.push({ message: `is not one of ${names.join(', ')}`, path: [...path, name] });
    else if (isCount) value[name] = count;
    // A name without a value is not set.
    else if (count !== null)
      refusals.push({ message: `is not a whole number from 0 to ${max}`, path: [...path, name] });
  }
  return { value, refusals };
}

/** Budgets by provider, with the member names of the reference. */
export function providerBudgets(): Kind<ProviderBudgets> {
  return kind<ProviderBudgets>('map of providers to budgets', (raw) => {
    if (!isJsonObject(raw)) return refuse('is not a map of providers');
    const refusals = Object.entries(raw).flatMap(([provider, budget]) => budgetFaults(provider, budget));
    return refusals.length > 0 ? { refusals } : { value: readProviderBudgets(raw) };
  });
}

function budgetFaults(provider: string, budget: unknown): readonly Refusal[] {
  if (!isJsonObject(budget))
    return [{ message: 'is not a map with `budget_limit` and `time_period`', path: [provider] }];
  return Object.entries(budget).flatMap(([name, value]) => {
    const path = [provider, name];
    if (name === 'budget_limit' || name === 'max_budget') {
      const isAmount = value === null || (typeof value === 'number' && value >= 0 && Number.isFinite(value));
      return isAmount ? [] : { message: 'is not an amount in USD from 0', path };
    }
    if (name === 'time_period' || name === 'budget_duration')
      return value === null || (typeof value === 'string' && isDuration(value))
        ? []
        : { message: 'is not a duration such as `1h`, `1d` or `1mo`', path };
    return { message: 'is not one of budget_limit, max_budget, time_period, budget_duration', path };
  });
}

/**
 * Lists of models by model: a list of maps in the file, as in the reference, or one map. The first entry of a model
 * wins.
 */
export function listsByModel(): Kind<Readonly<Record<string, readonly string[]>>> {
  return kind<Readonly<Record<string, readonly string[]>>>('list of maps of a model to models', (raw) => {
    const maps: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
    const lists: Record<string, readonly string[]> = {};
    const refusals: Refusal[] = [];
    for (const [index, one] of maps.entries()) {
      const path = Array.isArray(raw) ? [index] : [];
      if (!isJsonObject(one)) refusals.push({ message: 'is not a map of a model to models', path });
      else
        for (const [model, names] of Object.entries(one))
          if (isTextList(names)) lists[model] ??= names;
          else refusals.push({ message: 'is not a list of models', path: [...path, model] });
    }
    return refusals.length > 0 ? { refusals } : { value: lists };
  });
}

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');

/** Models by alias: a name, or a map with `model` and `hidden`. */
export function modelAliases(): Kind<Readonly<Record<string, ModelAlias>>> {
  return kind<Readonly<Record<string, ModelAlias>>>('map of aliases to models', (raw) => {
    if (!isJsonObject(raw)) return refuse('is not a map of aliases to models');
    const aliases = new Map<string, ModelAlias>();
    const refusals: Refusal[] = [];
    for (const [name, target] of Object.entries(raw)) {
      const { model, hidden = false } = isJsonObject(target) ? target : { model: target };
      if (typeof model !== 'string' || model === '' || typeof hidden !== 'boolean')
        refusals.push({ message: 'is neither a model nor a map with `model` and `hidden`', path: [name] });
      else aliases.set(name, { model, hidden });
    }
    return refusals.length > 0 ? { refusals } : { value: Object.fromEntries(aliases) };
  });
}

/** Any value. Another module checks it. */
export function anyValue(form: string): Kind<unknown> {
  return kind(form, (raw) => ({ value: raw }), { isSecret: true });
}

/** A setting of the file that can also be stored at run time. The same rules check both values. */
export function storable(section: string, name: string): Kind<unknown> {
  return kind<unknown>(
    'map',
    (raw) => {
      const refusals = valueFaults(section, name, raw);
      return refusals.length > 0 ? { refusals } : { value: raw };
    },
    { isSecret: true },
  );
}
