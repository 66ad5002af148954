import { describe, expect, it } from 'vitest';
import { isLive, SETTING_PATHS } from '../../src/runtime/settings/live-settings.ts';
import {
  MODEL_EFFECTS,
  UNSUPPORTED_KEYS,
  UNSUPPORTED_SECTIONS,
  type UnsupportedKeys,
} from '../../src/runtime/settings/reference-keys.ts';
import { MODEL_KEYS } from '../../src/runtime/settings/deployments.ts';
import { REQUIREMENT_SETTINGS } from '../../src/domain/keys/enforced-params.ts';
import { GENERAL_FIELDS } from '../../src/domain/settings/general-fields.ts';
import { RETENTIONS } from '../../src/domain/settings/retention.ts';
import { ROUTER_FIELDS } from '../../src/domain/settings/router-fields.ts';
import { LITELLM_SETTINGS, SHARED_FIELDS } from '../../src/domain/settings/shared-fields.ts';
import { SWITCHES } from '../../src/domain/settings/switches.ts';
import { readFiles, type SourceFile, withoutComments } from './repository.ts';

const namesOf = ({ effects, others }: UnsupportedKeys): readonly string[] => [...Object.keys(effects), ...others];

/** Paths of the configuration file about which the start warns that they have no effect. */
const WARNED: readonly string[] = [
  ...namesOf(UNSUPPORTED_SECTIONS),
  ...Object.entries(UNSUPPORTED_KEYS).flatMap(([section, keys]) => namesOf(keys).map((name) => `${section}.${name}`)),
];

/** Settings of which only some values have an effect. The start warns about each other value. */
const IN_PART = new Set(['litellm_settings.callbacks']);

/** Warned paths that a row of the table of settings reads. */
const honoured = (warned: readonly string[], rows: readonly string[]): readonly string[] =>
  warned.filter((path) => !IN_PART.has(path) && rows.some((row) => row === path || row.startsWith(`${path}.`)));

/** Files that have names of settings and do not act on the values: lists of names, and views of settings. */
const NAME_LISTS = new Set([
  'src/runtime/settings/reference-keys.ts',
  'src/domain/settings/config-update.ts',
  'src/domain/settings/general-fields.ts',
  'src/domain/settings/ownership.ts',
  'src/domain/settings/redaction.ts',
  'src/domain/settings/router-fields.ts',
  'src/domain/settings/setting-groups.ts',
  'src/domain/settings/shared-fields.ts',
  // Settings are shown as they are configured.
  'resolvers/callback-settings.ts',
  'resolvers/setting-views.ts',
  'resolvers/setting-groups.ts',
  'resolvers/settings.ts',
]);

/** Code that reads a setting from the current configuration. */
const READS = /\b(settingViewOf|isSwitchedOn|retentionMs|valueOf)\(|\.(resolved|stored|current)\b/;

/** Warned names that code outside the table reads by name. */
function readByName(files: readonly SourceFile[], warned: readonly string[]): readonly string[] {
  const names = [...new Set(warned.map((path) => path.slice(path.lastIndexOf('.') + 1)))];
  return files
    .filter(({ path }) => !NAME_LISTS.has(path))
    .map(({ path, text }) => ({ path, text: withoutComments(text) }))
    .filter(({ text }) => /settings\/(configuration|ownership)\.ts'/.test(text) && READS.test(text))
    .flatMap(({ path, text }) => names.filter((name) => text.includes(`'${name}'`)).map((name) => `${path}: ${name}`));
}

describe('settings about which the start warns that they have no effect', () => {
  it('have no row in the table of settings', () => {
    expect(honoured(WARNED, SETTING_PATHS)).toEqual([]);
    const canary = ['general_settings.tracing', 'general_settings.alerting'];
    expect(honoured(canary, ['general_settings.tracing.store.type'])).toEqual(['general_settings.tracing']);
  });

  it('are named once', () => {
    expect(WARNED.filter((path, index) => WARNED.indexOf(path) !== index)).toEqual([]);
  });

  it('are not read by code outside the table', () => {
    expect(readByName(readFiles('src/**/*.ts', 'resolvers/**/*.ts'), WARNED)).toEqual([]);
    const text = `import { settingViewOf } from '../settings/ownership.ts';\nconst on = settingViewOf(config, stored, GENERAL, 'alerting');`;
    expect(readByName([{ path: 'src/canary.ts', text }], WARNED)).toEqual(['src/canary.ts: alerting']);
  });

  it('are not among the keys of a model that deployments read', () => {
    expect(Object.keys(MODEL_EFFECTS).filter((name) => MODEL_KEYS.test(name))).toEqual([]);
  });
});

it('settings that are read by name are rows of the table, with an effect in a running process', () => {
  const names = [...SWITCHES, ...REQUIREMENT_SETTINGS, ...Object.keys(RETENTIONS)].map(
    (name) => `general_settings.${name}`,
  );
  expect(names.filter((path) => !SETTING_PATHS.includes(path) || !isLive(path))).toEqual([]);
});

describe('the description of a setting', () => {
  const described: readonly (readonly [path: string, description: string])[] = [
    ...[...GENERAL_FIELDS].map(([name, field]) => [`general_settings.${name}`, field.description] as const),
    ...Object.entries(ROUTER_FIELDS).map(([name, field]) => [`router_settings.${name}`, field.description] as const),
    ...Object.entries(SHARED_FIELDS).map(
      ([name, field]) => [`${LITELLM_SETTINGS}.${name}`, field.description] as const,
    ),
  ];
  const isRead = (path: string): boolean => SETTING_PATHS.some((row) => row === path || row.startsWith(`${path}.`));

  it('says that the setting is not in force where no row of the table reads it, and only there', () => {
    expect(
      described.filter(([path, text]) => isRead(path) === /Not in force yet[.:]/.test(text)).map(([path]) => path),
    ).toEqual([]);
  });
});
