import { type JsonObject, isJsonObject, jsonObjectOf } from '../json-object.ts';
import { redacted } from '../settings/redaction.ts';
import type { McpServerDefinition } from './mcp-server.ts';

/**
 * Who reads a server: an administrator, a key of a user, or a key without a user. All of them see no secrets. Users do
 * not see addresses, programs and headers, and keys without a user see what the server is for.
 */
export type McpServerReader = 'admin' | 'user' | 'key';

/** Maps whose texts are secrets, whatever their names are. */
const SECRET_MAPS: ReadonlySet<string> = new Set(['credentials', 'static_headers', 'env']);

/** Members whose names look like those of secrets, or that are keyed by names of tools. */
const WITHOUT_SECRETS: ReadonlySet<string> = new Set([
  'byok_api_key_help_url',
  'tool_name_to_display_name',
  'tool_name_to_description',
  'allowed_params',
]);

const FOR_USERS: readonly string[] = [
  'server_name',
  'alias',
  'description',
  'instructions',
  'transport',
  'auth_type',
  'oauth2_flow',
  'mcp_info',
  'teams',
  'mcp_access_groups',
  'allowed_tools',
  'disallowed_tools',
  'tool_name_to_display_name',
  'tool_name_to_description',
  'allow_all_keys',
  'available_on_public_internet',
  'is_byok',
  'byok_description',
  'byok_api_key_help_url',
  'timeout',
  'max_concurrent_requests',
  'rpm',
  'approval_status',
  'submitted_by',
  'submitted_at',
  'reviewed_at',
  'review_notes',
];
const FOR_KEYS: readonly string[] = [
  'server_name',
  'alias',
  'description',
  'instructions',
  'transport',
  'auth_type',
  'mcp_info',
  'allow_all_keys',
  'available_on_public_internet',
  'is_byok',
];

const isReference = (text: string): boolean => /^os\.environ\/.+$/.test(text);
const hidden = (text: string): string => (text === '' || isReference(text) ? text : 'REDACTED');

const hiddenTexts = (value: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(jsonObjectOf(value)).map(([name, inner]) => [
      name,
      typeof inner === 'string' ? hidden(inner) : inner,
    ]),
  );

/** `env_vars` without the values of their variables. */
const shownVariables = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map((one: unknown) =>
        isJsonObject(one) && typeof one['value'] === 'string' ? { ...one, value: hidden(one['value']) } : one,
      )
    : value;

function shownMember(name: string, value: unknown): unknown {
  if (WITHOUT_SECRETS.has(name)) return value;
  if (SECRET_MAPS.has(name)) return hiddenTexts(value);
  if (name === 'env_vars') return shownVariables(value);
  return redacted(name, value, 'admin');
}

/** Whether everyone may see the server, also without a key. */
export const isPublic = ({ params }: McpServerDefinition): boolean =>
  jsonObjectOf(params['mcp_info'])['is_public'] === true;

function readableMembers(definition: McpServerDefinition, reader: McpServerReader): JsonObject {
  const { params } = definition;
  if (reader === 'admin') return params;
  const names = reader === 'user' ? FOR_USERS : FOR_KEYS;
  const known = Object.fromEntries(names.flatMap((name) => (name in params ? [[name, params[name]]] : [])));
  return reader === 'user' ? known : { ...known, mcp_info: isPublic(definition) ? { is_public: true } : null };
}

/** A server as a reader may see it. Secrets are redacted for everyone. */
export function shownServer(definition: McpServerDefinition, reader: McpServerReader): McpServerDefinition {
  const members = Object.entries(readableMembers(definition, reader));
  const params = Object.fromEntries(members.map(([name, value]) => [name, shownMember(name, value)]));
  if (reader !== 'key') return { ...definition, params };
  return { ...definition, params, createdAt: null, createdBy: null, updatedAt: null, updatedBy: null };
}
