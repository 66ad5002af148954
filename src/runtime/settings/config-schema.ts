import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { z } from 'zod';
import {
  MCP_CREDENTIAL_MEMBERS,
  MCP_SERVER_MEMBERS,
  type MemberKind,
} from '../../domain/mcp-servers/server-members.ts';
import { credentialEntry } from './credential-list.ts';
import { modelEntry } from './deployments.ts';
import { agentEntry } from './a2a-agents.ts';
import { guardrailEntry } from './guardrails.ts';
import { searchToolEntry } from './search-tools.ts';
import { attachmentEntry, policyEntry } from './policies.ts';
import { promptEntry } from './prompts.ts';
import { vectorStoreEntry } from './vector-stores.ts';
import { UNSUPPORTED_KEYS, UNSUPPORTED_SECTIONS, type UnsupportedKeys } from './reference-keys.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './table.ts';

/** A JSON Schema, as an object. */
export type JsonSchema = JsonObject;

/** Text in place of a value: a reference to a variable. */
const REFERENCE: JsonSchema = { type: 'string', pattern: '^os\\.environ/.+$' };
const NULL: JsonSchema = { type: 'null' };

/** Form of a kind of numbers with bounds (`kinds.ts`). */
const BOUNDED = /^(whole number|number) from ([\d.]+)(?: to ([\d.]+))?$/;

/** Schema of a setting in the file; empty where its kind has no simple form. */
function valueSchema({ kind: { form }, default: defaultValue }: Setting): JsonSchema {
  if (form === 'true or false') return { anyOf: [{ type: 'boolean' }, REFERENCE, NULL] };
  const [, number, min, max] = BOUNDED.exec(form) ?? [];
  if (number !== undefined) {
    const type = number === 'number' ? 'number' : 'integer';
    const bounds = { minimum: Number(min), ...(max === undefined ? {} : { maximum: Number(max) }) };
    return { anyOf: [{ type, ...bounds }, { type: 'string' }, NULL] };
  }
  if (form.startsWith('list of ')) return { anyOf: [{ type: 'array' }, { type: 'string' }, NULL] };
  if (form === 'map' || form.startsWith('map of ')) return { anyOf: [{ type: 'object' }, NULL] };
  const choices = form.split(', ');
  if (typeof defaultValue === 'string' && choices.length > 1 && choices.includes(defaultValue))
    return { anyOf: [{ enum: choices }, REFERENCE, NULL] };
  return {};
}

const settingSchema = (row: Setting): JsonSchema => ({
  description: `${row.description}${row.kind.form === '' ? '' : ` Value: ${row.kind.form}.`}`,
  ...valueSchema(row),
  ...(row.default === null || row.kind.isSecret || typeof row.default === 'object' ? {} : { default: row.default }),
});

/** Keys that are accepted without an effect. */
const unsupportedSchemas = ({ effects, others }: UnsupportedKeys): JsonSchema =>
  Object.fromEntries([
    ...others.map((name): [string, JsonSchema] => [name, { description: 'Has no effect.', deprecated: true }]),
    ...Object.entries(effects).map(([name, effect]): [string, JsonSchema] => [
      name,
      { description: `Has no effect: ${effect}.`, deprecated: true },
    ]),
  ]);

/** A section, or a map in a section. Other keys are accepted: the start warns of them. */
const sectionSchema = (properties: JsonSchema, allowsText = false): JsonSchema => ({
  type: allowsText ? ['object', 'string', 'null'] : ['object', 'null'],
  properties,
});

/** Adds a schema at a dotted path. Creates the maps on the path. */
function withSchemaAt(properties: JsonSchema, [name = '', ...rest]: readonly string[], schema: JsonSchema): JsonSchema {
  const found = properties[name];
  const before = isJsonObject(found) ? found : {};
  if (rest.length === 0) return { ...properties, [name]: { ...before, ...schema } };
  const inner = isJsonObject(before['properties']) ? before['properties'] : {};
  // `tracing.store: clickhouse` is short for `tracing.store.type`.
  const section = sectionSchema(withSchemaAt(inner, rest, schema), name === 'store');
  return { ...properties, [name]: { ...before, ...section } };
}

/** A schema whose optional members may be null, which means that they are absent. */
function withNulls(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, member]): [string, unknown] => {
    const inner = withNulls(member);
    // An empty schema allows every value, also null.
    const isEmpty = Object.keys(isJsonObject(inner) ? inner : {}).length === 0;
    return [name, needed.has(name) || isEmpty ? inner : { anyOf: [inner, NULL] }];
  });
  return { ...schema, properties: Object.fromEntries(members) };
}

/** A list of entries. */
function listSchema(description: string, entry: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...items } = z.toJSONSchema(entry, { io: 'input', unrepresentable: 'any' });
  return { description, type: ['array', 'null'], items: withNulls(items) };
}

const modelsSchema = (): JsonSchema =>
  listSchema('Models that callers may call. Several entries with one `model_name` share its calls.', modelEntry);

const guardrailsSchema = (): JsonSchema =>
  listSchema('Checks of the texts of calls and answers. They run in this order.', guardrailEntry);

const agentsSchema = (description: string): JsonSchema => listSchema(description, agentEntry);
const vectorStoresSchema = (): JsonSchema =>
  listSchema('Vector stores of providers that keys may search and fill.', vectorStoreEntry);
const searchToolsSchema = (): JsonSchema =>
  listSchema(
    'Accounts of providers of web searches. Several entries with one name share its searches.',
    searchToolEntry,
  );
const policiesSchema = (): JsonSchema => ({
  description: 'Policies by name: selections of guardrails.',
  type: ['object', 'null'],
  additionalProperties: listSchema('', policyEntry)['items'],
});

/** Schemas of the kinds of members of an MCP server. */
const MEMBER_SCHEMAS: Readonly<Record<MemberKind, JsonSchema>> = {
  text: { type: ['string', 'null'] },
  texts: { type: ['array', 'null'], items: { type: 'string' } },
  flag: { type: ['boolean', 'null'] },
  number: { type: ['number', 'null'], minimum: 0 },
  textMap: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
  textsMap: { type: ['object', 'null'], additionalProperties: { type: 'array', items: { type: 'string' } } },
  object: { type: ['object', 'null'] },
  objects: { type: ['array', 'null'], items: { type: 'object' } },
  any: {},
};

const mcpServersSchema = (): JsonSchema => ({
  description: 'MCP servers by name.',
  type: ['object', 'null'],
  additionalProperties: {
    type: 'object',
    properties: {
      server_id: { type: 'string' },
      ...Object.fromEntries(
        Object.entries({ ...MCP_SERVER_MEMBERS, ...MCP_CREDENTIAL_MEMBERS }).map(([name, kind]) => [
          name,
          MEMBER_SCHEMAS[kind],
        ]),
      ),
    },
  },
});

const credentialsSchema = (): JsonSchema =>
  listSchema('Credentials that models use by `litellm_params.litellm_credential_name`.', credentialEntry);

/** JSON Schema of the configuration file, for editors. */
export function configSchema(): JsonSchema {
  const rows: readonly Setting[] = Object.values(SETTINGS);
  let properties: JsonSchema = Object.fromEntries(
    Object.entries(UNSUPPORTED_KEYS)
      .filter(([section]) => section !== 'model_info')
      .map(([section, keys]) => [section, sectionSchema(unsupportedSchemas(keys))]),
  );
  for (const row of rows)
    if (row.file !== undefined) properties = withSchemaAt(properties, row.file.split('.'), settingSchema(row));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration file of Lensgate',
    type: 'object',
    properties: {
      ...unsupportedSchemas(UNSUPPORTED_SECTIONS),
      include: {
        description: 'Further files, relative to the folder of the first file.',
        type: ['array', 'null'],
        items: { type: 'string' },
      },
      model_list: modelsSchema(),
      guardrails: guardrailsSchema(),
      agents: agentsSchema('Agents that are called by the A2A protocol.'),
      agent_list: agentsSchema('Further agents: another name of `agents`.'),
      vector_store_registry: vectorStoresSchema(),
      search_tools: searchToolsSchema(),
      policies: policiesSchema(),
      policy_attachments: listSchema('Where policies apply.', attachmentEntry),
      prompts: listSchema('Templates of messages that calls name by `prompt_id`.', promptEntry),
      mcp_servers: mcpServersSchema(),
      credential_list: credentialsSchema(),
      environment_variables: {
        description: 'Variables that are set in the environment of the process; they replace those that it has.',
        type: ['object', 'null'],
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
      },
      ...properties,
    },
  };
}
