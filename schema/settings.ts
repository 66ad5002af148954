import {
  changeSetting,
  type DescribedSetting,
  getConfigReload,
  listSettingViews,
  type SettingsUpdate,
  watchSettings,
} from '../resolvers/setting-views.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { ConfigReload } from '../src/domain/settings/configuration.ts';
import { OwnedByFile } from '../src/domain/settings/ownership.ts';
import { builder } from './base/builder.ts';
import { droppedUpdates } from './base/shared-fields.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { UserErrorType } from './base/errors.ts';

/** Assumed number of settings in a list. */
const USUAL_SETTINGS = 100;
/** Assumed number of settings that change together. */
const USUAL_CHANGES = 5;

const SectionType = builder.enumType('SettingSection', {
  description: 'Section of the configuration file.',
  values: {
    GENERAL: { value: 'general_settings', description: '`general_settings`.' },
    LITELLM: { value: 'litellm_settings', description: '`litellm_settings`.' },
    ROUTER: { value: 'router_settings', description: '`router_settings`.' },
    ENVIRONMENT: { value: 'environment_variables', description: '`environment_variables`. Their values are hidden.' },
  } as const,
});

const SourceType = builder.enumType('SettingSource', {
  description: 'Where the value of a setting comes from.',
  values: {
    CONFIG: {
      value: 'config',
      description: 'The configuration file. Only the file can change a setting that it declares.',
    },
    DATABASE: { value: 'db', description: 'A value that was stored at run time.' },
    DEFAULT: { value: 'default', description: 'A built-in value.' },
    UNSET: { value: 'unset', description: 'Nothing sets it.' },
  } as const,
});

const SettingType = builder.objectRef<DescribedSetting>('Setting').implement({
  description: 'A setting of the configuration file or the database. Secrets are `REDACTED`.',
  fields: (t) => ({
    section: t.field({
      type: SectionType,
      description: 'Section that it belongs to.',
      resolve: ({ section }) => section,
    }),
    name: t.exposeString('name', { description: 'Name within its section.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'What it does. Null for a setting that is not known.',
    }),
    source: t.field({ type: SourceType, description: 'Where its value comes from.', resolve: ({ source }) => source }),
    editable: t.exposeBoolean('editable', {
      description: 'Whether it can be changed at run time: the configuration file does not declare it.',
    }),
    declaredValue: t.expose('declaredValue', {
      type: 'JSON',
      nullable: true,
      description:
        'Value as the configuration file has it; references such as `os.environ/NAME` are not resolved. Null when the file does not declare it, or declares it as null.',
    }),
    effectiveValue: t.expose('effectiveValue', {
      type: 'JSON',
      nullable: true,
      description: 'Value that is used. Null for none.',
    }),
    ignoredStoredValue: t.expose('ignoredStoredValue', {
      type: 'JSON',
      nullable: true,
      description:
        'Stored value that the configuration file overrides. Null when no value is stored, or when it equals the value of the file.',
    }),
    defaultValue: t.expose('defaultValue', {
      type: 'JSON',
      nullable: true,
      description: 'Built-in value. Null for none.',
    }),
  }),
});

builder.queryField('settings', (t) =>
  t.field({
    type: [SettingType],
    nullable: true,
    complexity: { field: 1, multiplier: USUAL_SETTINGS },
    description:
      'Settings, with the source of each value. For proxy administrators, and for read-only proxy administrators.',
    args: {
      sections: t.arg({ type: [SectionType], description: 'Only these sections. All when absent.' }),
      names: t.arg.stringList({ description: 'Only these names. All when absent.' }),
    },
    resolve: async (_root, { sections, names }, { scope }) => [
      ...(await listSettingViews(scope, { sections: sections ?? null, names: names ?? null })),
    ],
  }),
);

const ReloadType = builder.objectRef<ConfigReload>('ConfigReload').implement({
  description: 'An attempt to read the configuration file again.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it ended.' }),
    error: t.exposeString('failure', {
      nullable: true,
      description: 'Why the file was rejected, with files and lines. Null after a success.',
    }),
  }),
});

builder.queryField('configReload', (t) =>
  t.field({
    type: ReloadType,
    nullable: true,
    description:
      'The last attempt of this process to read the configuration file again. Null before the first. For proxy administrators with full or read-only access.',
    resolve: (_root, _args, { scope }) => getConfigReload(scope, undefined),
  }),
);

builder.objectType(OwnedByFile, {
  name: 'SettingOwnedByFileError',
  description: 'The configuration file declares the setting, so only the file can change it.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    section: t.exposeString('section', { description: 'Section of the configuration file.' }),
    keys: t.stringList({ description: 'Settings of the request that the file declares.', resolve: ({ keys }) => keys }),
    storedValueIgnored: t.boolean({
      description: 'Whether the database has another value, which is ignored.',
      resolve: ({ ignored }) => ignored.length > 0,
    }),
    resolution: t.exposeString('resolution', {
      description: 'File and line to edit, or how to store the setting in the database instead.',
    }),
  }),
});

const UpdateSettingInput = builder.inputType('UpdateSettingInput', {
  description: 'A setting and its new value.',
  fields: (t) => ({
    section: t.field({ type: SectionType, required: true, description: 'Section of the setting.' }),
    name: t.string({ required: true, description: 'Name within its section.' }),
    value: t.field({
      type: 'JSON',
      description:
        'New value. Null removes the stored value; for a known setting of `litellm_settings` it stores the built-in value. For `pass_through_endpoints`, null also removes all stored endpoints.',
    }),
  }),
});

builder.mutationField('updateSetting', (t) =>
  t.field({
    type: SettingType,
    description: `Stores a setting in the database. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateSettingInput, required: true, description: 'The setting and its value.' }) },
    errors: {
      types: [InvalidInput, OwnedByFile],
      union: { name: 'UpdateSettingResult', description: 'The changed setting, or why it was not changed.' },
    },
    resolve: (_root, { input: { section, name, value } }, { scope }) =>
      changeSetting(scope, { section, name, value: value ?? null }),
  }),
);

const ChangedSettingType = builder.objectRef<SettingsUpdate['changed'][number]>('ChangedSetting').implement({
  description: 'Name of a setting that was changed.',
  fields: (t) => ({
    section: t.exposeString('section', { description: 'Section, or stored group of settings such as `ui_settings`.' }),
    name: t.exposeString('name', { description: 'Name within its section.' }),
  }),
});

const UpdateType = builder.objectRef<SettingsUpdate>('SettingsUpdate').implement({
  description: 'Settings that changed together.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When this process read the change.' }),
    changed: t.field({
      type: [ChangedSettingType],
      complexity: { field: 1, multiplier: USUAL_CHANGES },
      description: 'The changed settings. Read their values with `settings`.',
      resolve: ({ changed }) => changed,
    }),
    ...droppedUpdates(t),
  }),
});

builder.subscriptionField('settingsChanged', (t) =>
  t.field({
    type: UpdateType,
    description:
      'Changes of settings at run time, also by other processes and by a new configuration file. For proxy administrators with full or read-only access.',
    subscribe: (_root, _args, { scope }) => watchSettings(scope, undefined),
    resolve: (update) => update,
  }),
);
