import type { JsonObject } from '../src/domain/json-object.ts';
import type { SettingView } from '../src/domain/settings/ownership.ts';
import type { SectionUpdates } from '../src/domain/settings/config-update.ts';
import {
  getSetting,
  listSettings,
  removeCallback,
  removeSetting,
  readConfiguration,
  type StoredResult,
  updateConfiguration,
  updateSetting,
} from '../resolvers/settings.ts';
import {
  fields,
  type FieldReader,
  optional,
  literal,
  members,
  object,
  parseObject,
  requiredLiteralOf,
  requiredText,
  requiredValue,
} from './helpers/http/body-fields.ts';
import { query, requiredLiteral, requiredText as requiredParameter } from './helpers/http/query.ts';
import { type HttpAnswer, json, route, type RouteRow } from './helpers/http/route.ts';
import { renderListed } from './helpers/answers/settings.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

const GENERAL = 'general_settings';
/** Sections whose stored settings `/config/field/delete` removes. */
const REMOVED_SECTIONS = [GENERAL, 'router_settings'] as const;

const parseListQuery = query({ config_type: requiredLiteral(GENERAL) });
const parseNameQuery = query({ field_name: requiredParameter });
const readUpdate = fields({ field_name: requiredText, field_value: requiredValue, config_type: literal(GENERAL) });
const readRemoval = fields({ field_name: requiredText, config_type: requiredLiteralOf(REMOVED_SECTIONS) });
const readCallback = fields({ callback_name: requiredText });

const section: FieldReader<JsonObject | undefined> = optional(object);
const readSections = members({
  general_settings: section,
  litellm_settings: section,
  router_settings: section,
  environment_variables: section,
});

/** Sections of the body. Sections that were not sent are absent. */
const parseSections = (body: Uint8Array): SectionUpdates =>
  Object.fromEntries(Object.entries(readSections(parseObject(body))).filter(([, input]) => input !== undefined));

/** A setting of the configuration file is shown as the file declares it: `os.environ/NAME` stays a reference. */
const renderView = ({ name, source, editable, declaredValue, effectiveValue }: SettingView): HttpAnswer =>
  json({ field_name: name, field_value: source === 'config' ? declaredValue : effectiveValue, source, editable });

/** A setting of `litellm_settings` is answered with a message, a general setting with the stored section. */
function renderStored(result: StoredResult): HttpAnswer {
  if ('name' in result)
    return json({ message: `Field ${result.name} ${result.reset ? 'reset' : 'updated'}`, status: 'success' });
  return json({ param_name: result.section, param_value: result.content, last_run_at: null, reload_revision: 0 });
}

const ROW = {
  ...MANAGEMENT,
  failureForm: { body: 'detail' },
} as const;
const READING = { ...ROW, method: 'GET', bodyLimit: 0 } as const;
const CHANGING = { ...ROW, method: 'POST', statuses: [200, 400, 401, 403, 422], bodyLimit: 1024 * 1024 } as const;

/** Settings of the configuration file and the database. */
export const settingRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'settings.list',
    querySchema: parseListQuery.schema,
    paths: ['/config/list'],
    statuses: [200, 401, 422],
    parse: ({ search }) => parseListQuery(search),
    run: (scope) => listSettings(scope, undefined),
    render: (settings) => json(settings.map(renderListed)),
  }),
  route({
    ...READING,
    name: 'settings.get',
    querySchema: parseNameQuery.schema,
    paths: ['/config/field/info'],
    statuses: [200, 400, 401, 422],
    parse: ({ search }) => ({ name: parseNameQuery(search).field_name }),
    run: getSetting,
    render: renderView,
  }),
  route({
    ...CHANGING,
    name: 'settings.update',
    bodySchema: readUpdate.schema,
    paths: ['/config/field/update'],
    parse({ body }) {
      const { field_name: name, field_value: value } = readUpdate(body);
      return { name, value };
    },
    run: updateSetting,
    render: renderStored,
  }),
  route({
    ...CHANGING,
    name: 'settings.delete',
    bodySchema: readRemoval.schema,
    paths: ['/config/field/delete'],
    parse({ body }) {
      const removal = readRemoval(body);
      return { section: removal.config_type, name: removal.field_name };
    },
    run: removeSetting,
    render: renderStored,
  }),
  route({
    ...CHANGING,
    name: 'settings.updateSections',
    bodySchema: readSections.schema,
    paths: ['/config/update'],
    failureForm: { body: 'auth' },
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => parseSections(body),
    run: updateConfiguration,
    render: () => json({ message: 'Config updated successfully' }),
  }),
  route({
    ...READING,
    name: 'settings.yaml',
    paths: ['/config/yaml'],
    statuses: [200, 401],
    parse: () => undefined,
    run: (scope) => readConfiguration(scope, undefined),
    render: (text) => ({ body: { kind: 'bytes', bytes: Buffer.from(text), contentType: 'application/yaml' } }),
  }),
  route({
    ...CHANGING,
    name: 'settings.deleteCallback',
    bodySchema: readCallback.schema,
    paths: ['/config/callback/delete'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ body }) => ({ name: readCallback(body).callback_name }),
    run: removeCallback,
    render: ({ removed, remaining }) =>
      json({
        message: `Successfully deleted callback: ${removed}`,
        removed_callback: removed,
        remaining_callbacks: remaining,
      }),
  }),
];
