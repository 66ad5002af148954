import { isJsonObject } from '../../domain/json-object.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import type { Refusal } from './kinds.ts';
import type { Setting } from './setting.ts';
import { type SettingName, SETTINGS, type SettingValues } from './table.ts';

/** Source of the value of a setting. */
interface Origin {
  readonly from: 'arguments' | 'environment' | 'config file' | 'default';
  /** Argument, variable or dotted path. */
  readonly key: string;
}

/** Settings with their origins. */
export interface SettingsRead {
  readonly values: SettingValues;
  originOf(name: SettingName): Origin;
  /** Reports a wrong value at its origin. */
  refuse(name: SettingName, message: string): void;
}

/** Arguments, environment and file. */
export interface Sources {
  readonly args: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: NodeJS.ProcessEnv;
  readonly document: ConfigDocument;
}

/** A value that a source sets for a row. */
interface Candidate {
  readonly origin: Origin;
  readonly raw: unknown;
}

/** Maximum characters of a value in a message. */
const MAX_SHOWN_CHARACTERS = 100;
const ROWS: Readonly<Record<string, Setting>> = SETTINGS;

/** The steps of a dotted path. */
const pathOf = (dotted: string): Path => dotted.split('.');

/**
 * Reads every row of the table, except those with `readBy`. Reports every wrong value, also of a source that another
 * source overrides.
 */
export function readValues(sources: Sources, fault: (fault: ConfigFault) => void): SettingsRead {
  const values: Record<string, unknown> = {};
  const origins = new Map<string, Origin>();
  for (const section of sectionsOf(Object.values(ROWS))) {
    const value = valueAt(sources.document.content, pathOf(section));
    if (value !== null && value !== undefined && !isJsonObject(value))
      fault({ ...sources.document.placeOf(pathOf(section)), key: section, message: 'is not a map of settings' });
  }
  for (const [name, row] of Object.entries(ROWS)) {
    if (row.readBy !== undefined) continue;
    for (const candidate of candidatesOf(row, sources)) {
      const parsed = row.kind.parse(candidate.raw, candidate.origin.from === 'config file' ? 'file' : 'text');
      if ('refusals' in parsed)
        for (const refusal of parsed.refusals) fault(faultOf(row, candidate, refusal, sources.document));
      else if ('value' in parsed && !origins.has(name)) {
        values[name] = parsed.value;
        origins.set(name, candidate.origin);
      }
    }
    if (!origins.has(name)) values[name] = row.default;
  }
  const originOf = (name: string): Origin => origins.get(name) ?? { from: 'default', key: labelOf(ROWS[name]) };
  return {
    values: values as unknown as SettingValues,
    originOf,
    refuse: (name, message) => fault({ ...placeOf(originOf(name), sources.document), message }),
  };
}

const labelOf = (row: Setting | undefined): string => row?.env?.[0] ?? row?.file ?? row?.argument ?? '';

/** Every source that sets a row, in the order of precedence. */
function candidatesOf(row: Setting, { args, env, document }: Sources): readonly Candidate[] {
  const argument = row.argument === undefined ? undefined : args[row.argument.slice(2)];
  const fromArguments =
    argument === undefined ? [] : [{ origin: { from: 'arguments', key: row.argument ?? '' } as const, raw: argument }];
  const fromEnvironment = (row.env ?? []).flatMap((key): readonly Candidate[] =>
    env[key] ? [{ origin: { from: 'environment', key }, raw: env[key] }] : [],
  );
  const inFile = row.file === undefined ? undefined : valueAt(document.content, pathOf(row.file));
  // A reference to an unset variable is reported already.
  const isUnresolved = document.faults.some(({ key }) => key === row.file);
  const fromFile: readonly Candidate[] =
    inFile === undefined || inFile === null || isUnresolved
      ? []
      : [{ origin: { from: 'config file', key: row.file ?? '' }, raw: inFile }];
  // Rows with `filePrecedesEnvironment` have no argument.
  return row.filePrecedesEnvironment
    ? [...fromFile, ...fromEnvironment]
    : [...fromArguments, ...fromEnvironment, ...fromFile];
}

function faultOf(row: Setting, { origin, raw }: Candidate, refusal: Refusal, document: ConfigDocument): ConfigFault {
  const path = refusal.path ?? [];
  const place = placeOf(origin, document, path);
  // `Object(raw)` is `raw` itself only where `raw` is an object.
  const isPrimitive = !Object.is(Object(raw), raw);
  const isShown = isPrimitive && refusal.complete !== true && path.length === 0 && !row.kind.isSecret;
  return {
    ...place,
    message: isShown ? `"${String(raw).slice(0, MAX_SHOWN_CHARACTERS)}" ${refusal.message}` : refusal.message,
  };
}

/** Source, line and key of a value, or of a part of it. */
function placeOf({ from, key }: Origin, document: ConfigDocument, path: Path = []): Omit<ConfigFault, 'message'> {
  if (from !== 'config file') return { source: from, line: null, key };
  return { ...document.placeOf([...pathOf(key), ...path]), key: [key, ...path].join('.') };
}

function valueAt(content: unknown, path: Path): unknown {
  let value = content;
  for (const step of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** Paths of the maps that contain rows, e.g. `general_settings.tracing`. */
function sectionsOf(rows: readonly Setting[]): ReadonlySet<string> {
  const sections = new Set<string>();
  for (const { file } of rows) {
    const steps = file?.split('.') ?? [];
    for (let length = 1; length < steps.length; length += 1) sections.add(steps.slice(0, length).join('.'));
  }
  return sections;
}
