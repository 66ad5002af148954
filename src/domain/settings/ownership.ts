import { type JsonObject, isJsonObject } from '../json-object.ts';
import { DomainError } from '../errors.ts';
import { sameValue } from '../catalog/same-value.ts';
import type { SectionContent, StoredSection } from './stored-section.ts';

/** The configuration file. A section that it does not have is empty. */
export interface DeclaredConfig {
  /** The file as it was named at the start; null without one. */
  readonly file: string | null;
  /** The file and those that it includes. */
  readonly files: readonly string[];
  /** Every section as the file declares it: references to variables are not resolved. */
  readonly declared: JsonObject;
  /** Every section with resolved references; a variable that is not set is null. */
  readonly resolved: JsonObject;
  /** File and line that declare a setting. */
  placeOf(section: string, name: string): { readonly source: string; readonly line: number | null };
}

/** Source of the value of a setting. `unset`: no source; `default`: built in. */
type SettingSource = 'config' | 'db' | 'default' | 'unset';

/** A setting of the file or the database. */
export interface SettingView {
  readonly section: string;
  readonly name: string;
  readonly source: SettingSource;
  /** Whether it can be changed at runtime: the file does not declare it. */
  readonly editable: boolean;
  /** Value in the file, references not resolved; undefined when the file does not declare it. */
  readonly declaredValue: unknown;
  /** Value in force; null for none. */
  readonly effectiveValue: unknown;
  /** A stored value that the file overrides, and that differs from it; undefined without one. */
  readonly ignoredStoredValue: unknown;
}

/** Settings of `general_settings` that are stored with the settings of the dashboard. */
const STORED_WITH_UI: ReadonlySet<string> = new Set([
  'allow_public_health_readiness_details',
  'forward_client_headers_to_llm_api',
  'forward_llm_provider_auth_headers',
  'disable_agents_for_internal_users',
  'allow_agents_for_team_admins',
  'disable_vector_stores_for_internal_users',
  'allow_vector_stores_for_team_admins',
  'disable_custom_api_keys',
  'disable_key_generate_for_org_admin',
  'team_admin_editable_team_fields',
  'disable_model_add_for_internal_users',
  'disable_team_admin_delete_team_user',
  'require_auth_for_public_ai_hub',
]);

/** The list of pass-through endpoints in `general_settings`. Stored endpoints have a store of their own. */
export const PASS_THROUGH_ENDPOINTS = 'pass_through_endpoints';

/** Settings that both the file and the database may have: the file never owns them. */
const NEVER_OWNED: ReadonlySet<string> = new Set([PASS_THROUGH_ENDPOINTS]);

export const GENERAL = 'general_settings';
const UI_SETTINGS = 'ui_settings';

/** Stored settings by the name of their section. */
export type StoredSections = ReadonlyMap<string, SectionContent>;

export const sectionsOf = (rows: readonly StoredSection[]): StoredSections =>
  new Map(rows.map(({ id, content }) => [id, content]));

/** A section of the file; empty when the file does not have it. */
const sectionOf = (content: JsonObject, section: string): SectionContent => {
  const found = content[section];
  return isJsonObject(found) ? found : {};
};

/** Whether the file declares a setting, also as null. False for the `NEVER_OWNED` settings. */
export const isDeclared = ({ declared }: DeclaredConfig, section: string, name: string): boolean =>
  !NEVER_OWNED.has(name) && Object.hasOwn(sectionOf(declared, section), name);

/** The row that holds the stored value of a setting. */
export const sectionRowOf = (section: string, name: string): string =>
  section === GENERAL && STORED_WITH_UI.has(name) ? UI_SETTINGS : section;

const isUnset = (value: unknown): boolean => value === undefined || value === null;

/** A setting with its value, and the source of the value. */
export function settingViewOf(
  config: DeclaredConfig,
  stored: StoredSections,
  section: string,
  name: string,
): SettingView {
  const storedValue = stored.get(sectionRowOf(section, name))?.[name];
  const isSet = !isUnset(storedValue);
  if (!isDeclared(config, section, name)) {
    const effectiveValue = isSet ? storedValue : null;
    const source = isSet ? 'db' : 'unset';
    return {
      section,
      name,
      source,
      editable: true,
      declaredValue: undefined,
      effectiveValue,
      ignoredStoredValue: undefined,
    };
  }
  const declaredValue = sectionOf(config.declared, section)[name];
  const effectiveValue = sectionOf(config.resolved, section)[name] ?? null;
  const isIgnored = isSet && !sameValue(storedValue, effectiveValue) && !sameValue(storedValue, declaredValue);
  return {
    section,
    name,
    source: 'config',
    editable: false,
    declaredValue,
    effectiveValue,
    ignoredStoredValue: isIgnored ? storedValue : undefined,
  };
}

/** A runtime write to settings that the configuration file declares. */
export class OwnedByFile extends DomainError {
  readonly code = 'CONFLICT';
  readonly section: string;
  /** The declared settings, sorted. */
  readonly keys: readonly string[];
  /** Declared settings with a stored value that is ignored. */
  readonly ignored: readonly string[];
  /** Instruction for changing the settings. */
  readonly resolution: string;
  constructor(views: readonly [SettingView, ...SettingView[]], config: DeclaredConfig) {
    const sorted = views.toSorted((left, right) => (left.name < right.name ? -1 : 1));
    const keys = sorted.map(({ name }) => name);
    const ignored = sorted.filter((view) => view.ignoredStoredValue !== undefined).map(({ name }) => name);
    super(refusalText(views[0].section, keys, ignored));
    this.name = 'OwnedByFile';
    this.section = views[0].section;
    this.keys = keys;
    this.ignored = ignored;
    this.resolution = resolutionOf(views[0].section, keys, config);
  }
}

function refusalText(section: string, keys: readonly string[], ignored: readonly string[]): string {
  const named = keys.map((key) => `'${key}'`).join(', ');
  const subject = keys.length === 1 ? `${section} key ${named} is` : `${section} keys ${named} are`;
  const refusal = `${subject} set in the config file, so only the file can change ${keys.length === 1 ? 'it' : 'them'}.`;
  if (ignored.length === 0) return refusal;
  return `${refusal} The database has another value for ${ignored.join(', ')}, which is ignored.`;
}

function resolutionOf(section: string, keys: readonly string[], config: DeclaredConfig): string {
  const pronoun = keys.length === 1 ? 'it' : 'them';
  const places = new Set(
    keys.map((key) => {
      const { source, line } = config.placeOf(section, key);
      return line === null ? source : `${source}:${line}`;
    }),
  );
  return `edit ${[...places].join(', ')} to change ${pronoun}, or remove ${pronoun} from the file to store ${pronoun} in the database`;
}

/** A new value of a setting. */
export interface SettingWrite {
  readonly name: string;
  readonly value: unknown;
}

/**
 * Throws OwnedByFile when the file declares one of the settings with another value. Writing the effective value is
 * allowed, because it changes nothing.
 */
export function assertWritable(
  config: DeclaredConfig,
  stored: StoredSections,
  { section, writes }: { readonly section: string; readonly writes: readonly SettingWrite[] },
): void {
  const refused = writes.flatMap(({ name, value }) => {
    if (!isDeclared(config, section, name)) return [];
    const view = settingViewOf(config, stored, section, name);
    return sameValue(view.effectiveValue, value) ? [] : [view];
  });
  const [first, ...more] = refused;
  if (first !== undefined) throw new OwnedByFile([first, ...more], config);
}

/** Throws OwnedByFile when the file declares the setting, whatever its value is. */
export function assertRemovable(config: DeclaredConfig, stored: StoredSections, section: string, name: string): void {
  if (isDeclared(config, section, name)) throw new OwnedByFile([settingViewOf(config, stored, section, name)], config);
}
