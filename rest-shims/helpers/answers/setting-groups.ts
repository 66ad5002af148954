import { isJsonObject, type JsonObject } from '../../../src/domain/json-object.ts';
import type { ActiveCallbacks, GroupView, RouterSettings } from '../../../resolvers/setting-groups.ts';
import { GROUP_STRATEGIES } from '../../../src/domain/routing/selection-policy.ts';
import { STRATEGY_DESCRIPTIONS } from '../../../src/domain/settings/router-fields.ts';
import {
  type GroupField,
  type GroupName,
  SETTING_GROUPS,
  type SettingGroup,
} from '../../../src/domain/settings/setting-groups.ts';
import { fields, flag, listOf, members, parseObject, requiredText, dictionary, required } from '../http/body-fields.ts';
import { type JsonSchema, objectSchema } from '../http/schema.ts';
import { FIELD_TYPES } from './field-types.ts';

/** Types of JSON Schema by the kind of a setting. */
const SCHEMA_TYPES: Readonly<Record<GroupField['kind'], string>> = {
  integer: 'integer',
  number: 'number',
  flag: 'boolean',
  text: 'string',
  duration: 'string',
  window: 'string',
  windows: 'array',
  address: 'string',
  list: 'array',
  texts: 'array',
  map: 'object',
  objects: 'array',
  any: 'string',
};

/** Values of the settings of a group. A setting that is not set has its default. */
const withDefaults = ({ group, values }: GroupView): JsonObject => ({
  ...Object.fromEntries(Object.entries(group.fields).map(([name, { defaultValue }]) => [name, defaultValue])),
  ...values,
});

const isList = (kind: GroupField['kind']): boolean => kind === 'list' || kind === 'texts';

/** The part of a schema that names the choices. Those of a list are for its items. */
function choicesSchema({ kind, choices }: GroupField): JsonSchema {
  if (!isList(kind)) return choices === null ? {} : { enum: choices };
  return { items: choices === null ? { type: 'string' } : { enum: choices } };
}

const renderSchema = (group: SettingGroup) => ({
  description: group.description,
  properties: Object.fromEntries(
    Object.entries(group.fields).map(([name, field]) => [
      name,
      { description: field.description, type: SCHEMA_TYPES[field.kind], ...choicesSchema(field) },
    ]),
  ),
});

const schemaView = (view: GroupView): JsonObject => ({
  values: withDefaults(view),
  field_schema: renderSchema(view.group),
});

/** `max_connections` as `Max Connections`. */
const fieldLabel = (name: string): string =>
  name.replaceAll(
    /(^|_)([a-z])/g,
    (_all, start: string, letter: string) => (start === '' ? '' : ' ') + letter.toUpperCase(),
  );

const fieldRow = (name: string, field: GroupField, values: JsonObject) => ({
  field_name: name,
  field_type: FIELD_TYPES[field.kind],
  field_value: values[name] ?? null,
  field_description: field.description,
  field_default: field.defaultValue,
  ui_field_name: fieldLabel(name),
});

/** `redis_type` of fields that apply to one type of server only, or only to the semantic cache. */
const REDIS_TYPES: Readonly<Record<string, string>> = {
  redis_startup_nodes: 'cluster',
  startup_nodes: 'cluster',
  sentinel_nodes: 'sentinel',
  service_name: 'sentinel',
  sentinel_password: 'sentinel',
  similarity_threshold: 'semantic',
  redis_semantic_cache_embedding: 'semantic',
  semantic_cache_scope: 'semantic',
};

const cacheView = ({ group, values }: GroupView): JsonObject => ({
  fields: Object.entries(group.fields).map(([name, field]) => ({
    ...fieldRow(name, field, values),
    options: field.choices,
    link: null,
    redis_type: REDIS_TYPES[name] ?? null,
  })),
  current_values: values,
  redis_type_descriptions: {
    node: 'One Redis server.',
    cluster: 'A Redis cluster.',
    sentinel: 'Redis with sentinels that select the primary server.',
  },
});

const connectionView = ({ group, values, source }: GroupView): JsonObject => ({
  values,
  fields: Object.entries(group.fields).map(([name, field]) => ({
    ...fieldRow(name, field, values),
    section: REDIS_TYPES[name] ?? 'connection',
  })),
  source: source === 'unset' ? null : source,
});

/** Settings of an export of costs to a service such as CloudZero. Secrets are already redacted in `view`. */
function exportView(view: GroupView): JsonObject {
  const { api_key: key, integration_token: token, ...values } = withDefaults(view);
  return {
    api_key_masked: key,
    ...(Object.hasOwn(view.group.fields, 'integration_token') ? { integration_token_masked: token } : {}),
    ...values,
    status: view.source === 'unset' ? null : 'configured',
  };
}

/** The email events, each with whether an email is sent for it. */
const eventsView = (view: GroupView): JsonObject => ({
  settings: Object.entries(withDefaults(view)).map(([event, enabled]) => ({ event, enabled })),
});

/** Renders the answers of a group to a read and to an update. */
interface Form {
  readonly renderRead: (view: GroupView) => JsonObject;
  readonly renderUpdate: (view: GroupView, message: string) => JsonObject;
}

/**
 * Source of each setting: `config`, `db`, `default` or `unset`. `owned` names the settings of the configuration file.
 */
const renderSources = ({ group, values, source, owned }: GroupView): JsonObject =>
  Object.fromEntries(
    Object.entries(group.fields).map(([name, { defaultValue }]) => {
      if (owned.includes(name)) return [name, 'config'];
      if (values[name] !== undefined) return [name, source];
      return [name, defaultValue === null ? 'unset' : 'default'];
    }),
  );

const storedAnswer = ({ values }: GroupView, message: string): JsonObject => ({
  message,
  status: 'success',
  settings: values,
});
const statusMessage = (_view: GroupView, message: string): JsonObject => ({ message, status: 'success' });

/** Answer forms of setting groups. The routes of the reference have different forms. */
export const GROUP_FORMS = {
  schema: { renderRead: schemaView, renderUpdate: storedAnswer },
  provenance: {
    renderRead: (view) => ({ ...schemaView(view), provenance: renderSources(view) }),
    renderUpdate: storedAnswer,
  },
  // The gateway does not act on the settings of this form: the feature is never active.
  active: { renderRead: (view) => ({ ...schemaView(view), active_on_this_pod: false }), renderUpdate: storedAnswer },
  theme: {
    renderRead: schemaView,
    renderUpdate: ({ values }, message) => ({ message: `${message}.`, status: 'success', theme_config: values }),
  },
  values: {
    renderRead: ({ values }) => ({ values }),
    renderUpdate: ({ values }, message) => ({ message, status: 'success', values }),
  },
  flat: {
    renderRead: withDefaults,
    renderUpdate: (view, message) => ({ message, status: 'success', ...withDefaults(view) }),
  },
  events: { renderRead: eventsView, renderUpdate: (view, message) => ({ message, ...eventsView(view) }) },
  export: { renderRead: exportView, renderUpdate: statusMessage },
  vault: {
    renderRead: (view) => ({ config_type: 'hashicorp_vault', ...schemaView(view) }),
    renderUpdate: statusMessage,
  },
  cache: { renderRead: cacheView, renderUpdate: storedAnswer },
  connection: { renderRead: connectionView, renderUpdate: storedAnswer },
} satisfies Readonly<Record<string, Form>>;

export type GroupForm = keyof typeof GROUP_FORMS;

const readEvents = fields({
  settings: required(listOf(dictionary)),
});
const readEvent = members({ event: requiredText, enabled: flag });
/** Schema of a body that lists email events. */
export const eventsSchema = (): JsonSchema =>
  objectSchema({ settings: { type: 'array', items: readEvent.schema } }, ['settings']);

/** Schema of a body that changes a group. A null removes a value. */
export const groupSchema = (name: GroupName): JsonSchema =>
  objectSchema(
    Object.fromEntries(
      Object.entries(SETTING_GROUPS[name].fields).map(([field, { kind, description }]) => [
        field,
        { description, ...(kind === 'any' ? {} : { type: [SCHEMA_TYPES[kind], 'null'] }) },
      ]),
    ),
  );

/** The settings of a body that lists email events: for each event, whether it is enabled. Throws InvalidInput. */
export function eventValues(body: Uint8Array): JsonObject {
  const rows = readEvents(body).settings ?? [];
  return Object.fromEntries(rows.map((row) => readEvent(row)).map(({ event, enabled }) => [event, enabled]));
}

/** The settings of the cache in a body: its member `cache_settings`, as in the reference, or the body itself. */
export function cacheValues(body: Uint8Array): JsonObject {
  const sent = parseObject(body);
  const { cache_settings: settings } = sent;
  return isJsonObject(settings) ? settings : sent;
}

/** Values of `field_default` that differ from the defaults in use, as in the reference. */
const REPORTED_DEFAULTS: JsonObject = { num_retries: 0, cooldown_time: null };

const routerFields = (router: RouterSettings, values: JsonObject) =>
  Object.entries(router.fields).map(([name, { type, label, description, defaultValue, options }]) => ({
    field_name: name,
    field_type: type,
    field_value: values[name] ?? null,
    field_description: description,
    field_default: Object.hasOwn(REPORTED_DEFAULTS, name) ? REPORTED_DEFAULTS[name] : defaultValue,
    options,
    ui_field_name: label,
    link: null,
  }));

const STRATEGIES = {
  routing_strategy_descriptions: STRATEGY_DESCRIPTIONS,
  routing_group_strategies: GROUP_STRATEGIES,
};

export const renderRouterFields = (settings: RouterSettings) => ({
  fields: routerFields(settings, {}),
  ...STRATEGIES,
});

const routerValues = ({ settings }: RouterSettings): JsonObject =>
  Object.fromEntries(settings.map(({ name, value }) => [name, value]));

export const renderRouterSettings = (settings: RouterSettings) => ({
  fields: routerFields(settings, routerValues(settings)),
  current_values: routerValues(settings),
  ...STRATEGIES,
  source: Object.fromEntries(settings.settings.map(({ name, source }) => [name, source])),
});

/** Callbacks of the configuration that are supported. */
const AVAILABLE_CALLBACKS = {
  otel: {
    litellm_callback_name: 'otel',
    litellm_callback_params: ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'],
    ui_callback_name: 'OpenTelemetry',
  },
};

/** Callbacks and alerts as the dashboard reads them, without their variables. */
export const renderCallbacks = ({ success, failure, both, alerting, router }: ActiveCallbacks) => ({
  status: 'success',
  callbacks: [
    ...success.map((name) => ({ name, type: 'success', variables: {} })),
    ...failure.map((name) => ({ name, type: 'failure', variables: {} })),
    ...both.map((name) => ({ name, type: 'success_and_failure', variables: {} })),
  ],
  alerts: alerting.map((name) => ({ name, variables: {} })),
  active_alerting_destinations: alerting,
  router_settings: routerValues(router),
  available_callbacks: AVAILABLE_CALLBACKS,
});
