import { InvalidInput, type Issue } from '../errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../json-object.ts';

/** Type of the value of a member. A member of the type `any` is stored and has no effect. */
export type MemberKind = 'text' | 'texts' | 'flag' | 'number' | 'textMap' | 'textsMap' | 'object' | 'objects' | 'any';

/** Members of an MCP server under their names of the wire. */
export const MCP_SERVER_MEMBERS = {
  server_name: 'text',
  alias: 'text',
  description: 'text',
  instructions: 'text',
  transport: 'text',
  url: 'text',
  spec_path: 'text',
  command: 'text',
  args: 'texts',
  env: 'textMap',
  env_vars: 'objects',
  auth_type: 'text',
  credentials: 'object',
  static_headers: 'textMap',
  extra_headers: 'texts',
  oauth2_flow: 'text',
  issuer: 'text',
  authorization_url: 'text',
  token_url: 'text',
  registration_url: 'text',
  token_endpoint_auth_method: 'text',
  token_exchange_endpoint: 'text',
  token_exchange_profile: 'text',
  subject_token_type: 'text',
  audience: 'text',
  upstream_token_header: 'text',
  upstream_resource: 'text',
  delegate_auth_to_upstream: 'flag',
  oauth_passthrough: 'flag',
  dcr_bridge: 'flag',
  per_server_oauth_discovery: 'flag',
  is_byok: 'flag',
  byok_description: 'texts',
  byok_api_key_help_url: 'text',
  allowed_tools: 'texts',
  disallowed_tools: 'texts',
  allowed_params: 'textsMap',
  tool_name_to_display_name: 'textMap',
  tool_name_to_description: 'textMap',
  pinned_tools: 'any',
  mcp_info: 'object',
  mcp_access_groups: 'texts',
  teams: 'any',
  allow_all_keys: 'flag',
  available_on_public_internet: 'flag',
  timeout: 'number',
  max_concurrent_requests: 'number',
  rpm: 'number',
  protocol_version: 'text',
  allow_sampling: 'flag',
  allow_elicitation: 'flag',
  source_url: 'text',
  token_validation: 'any',
  oauth_identity_binding: 'any',
} as const satisfies Readonly<Record<string, MemberKind>>;

/** Members of `credentials`. They may also stand beside the other members of a server. */
export const MCP_CREDENTIAL_MEMBERS = {
  auth_value: 'text',
  client_id: 'text',
  client_secret: 'text',
  scopes: 'texts',
  client_private_key: 'text',
  client_assertion_signing_alg: 'text',
  aws_access_key_id: 'text',
  aws_secret_access_key: 'text',
  aws_session_token: 'text',
  aws_region_name: 'text',
  aws_service_name: 'text',
  aws_role_name: 'text',
  aws_session_name: 'text',
  id_jag_audience: 'text',
  id_jag_resource: 'text',
  id_jag_scopes: 'texts',
} as const satisfies Readonly<Record<string, MemberKind>>;

/** Members by their other names. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['authentication_token', 'auth_value'],
  ['access_groups', 'mcp_access_groups'],
]);

/** State of the review of a server that a team submitted. Operations set these members. */
export const MCP_REVIEW_MEMBERS = {
  approval_status: 'text',
  submitted_by: 'text',
  submitted_at: 'text',
  reviewed_at: 'text',
  review_notes: 'text',
} as const satisfies Readonly<Record<string, MemberKind>>;

const KINDS = new Map<string, MemberKind>(Object.entries({ ...MCP_SERVER_MEMBERS, ...MCP_REVIEW_MEMBERS }));
const CREDENTIAL_KINDS = new Map<string, MemberKind>(Object.entries(MCP_CREDENTIAL_MEMBERS));

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const everyValue = (value: unknown, holds: (inner: unknown) => boolean): boolean =>
  isJsonObject(value) && Object.values(value).every(holds);

const CHECKS: Readonly<Record<MemberKind, { readonly holds: (value: unknown) => boolean; readonly form: string }>> = {
  text: { holds: isText, form: 'a valid string' },
  texts: { holds: isTexts, form: 'a valid list of strings' },
  flag: { holds: (value) => typeof value === 'boolean', form: 'a valid boolean' },
  number: {
    holds: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
    form: 'a number from 0',
  },
  textMap: { holds: (value) => everyValue(value, isText), form: 'a valid dictionary of strings' },
  textsMap: { holds: (value) => everyValue(value, isTexts), form: 'a valid dictionary of lists of strings' },
  object: { holds: isJsonObject, form: 'a valid dictionary' },
  objects: {
    holds: (value) => Array.isArray(value) && value.every(isJsonObject),
    form: 'a valid list of dictionaries',
  },
  any: { holds: () => true, form: 'a value' },
};

/** Names of all members, with which a wrong name is compared. */
export const MCP_MEMBER_NAMES: readonly string[] = [
  ...Object.keys(MCP_SERVER_MEMBERS),
  ...Object.keys(MCP_CREDENTIAL_MEMBERS),
  ...SYNONYMS.keys(),
  'server_id',
];

/** The usual name of a member. A name that is no other name of a member is unchanged. */
export const mcpMemberName = (name: string): string => SYNONYMS.get(name) ?? name;

/** Whether a member exists, by any of its names. */
export const isMcpServerMember = (name: string): boolean =>
  KINDS.has(mcpMemberName(name)) || CREDENTIAL_KINDS.has(mcpMemberName(name));

function issueOf(kind: MemberKind | undefined, value: unknown, path: readonly string[]): readonly Issue[] {
  if (kind === undefined) return [{ path, rule: 'extra_forbidden', message: 'Extra inputs are not permitted' }];
  if (value === null || CHECKS[kind].holds(value)) return [];
  return [{ path, rule: 'value_error', message: `Input should be ${CHECKS[kind].form}` }];
}

/**
 * Members of a server in their usual form: each under one name, and those of `credentials` only there. Null values are
 * kept. Throws InvalidInput for unknown members and for values of a wrong type.
 */
export function usualMembers(sent: JsonObject): JsonObject {
  const members: Record<string, unknown> = {};
  const credentials: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [sentName, value] of Object.entries(sent)) {
    if (value === undefined) continue;
    const name = mcpMemberName(sentName);
    const isCredential = CREDENTIAL_KINDS.has(name);
    issues.push(...issueOf(isCredential ? CREDENTIAL_KINDS.get(name) : KINDS.get(name), value, ['body', sentName]));
    if (isCredential) credentials[name] = value;
    else members[name] = value;
  }
  for (const [sentName, value] of Object.entries(jsonObjectOf(members['credentials']))) {
    const name = mcpMemberName(sentName);
    issues.push(...issueOf(CREDENTIAL_KINDS.get(name), value, ['body', 'credentials', sentName]));
    credentials[name] = value;
  }
  if (issues.length > 0) throw new InvalidInput('The MCP server is not valid.', issues);
  return Object.keys(credentials).length === 0 ? members : { ...members, credentials };
}
