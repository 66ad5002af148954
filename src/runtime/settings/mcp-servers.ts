import { createHash } from 'node:crypto';
import { DomainError, InvalidInput } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../domain/json-object.ts';
import type { McpServerDefinition } from '../../domain/mcp-servers/mcp-server.ts';
import { mcpServerOf, unsupportedAuth } from '../../domain/mcp-servers/mcp-server-of.ts';
import { isMcpServerMember, MCP_MEMBER_NAMES } from '../../domain/mcp-servers/server-members.ts';
import { checkedParams, isStdioRefused, type StdioRules } from '../../domain/mcp-servers/server-params.ts';
import { assertUniqueNames } from '../../domain/mcp-servers/stored-server.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';
import type { SettingValues } from './table.ts';

/** Section of the MCP servers in the file: a map by name. */
const SECTION = 'mcp_servers';
/** Transport of a server of the file without one: that of the reference. */
const DEFAULT_TRANSPORT = 'http';

/** MCP servers of the file, and the programs that servers may run. */
export interface McpSettings {
  readonly servers: readonly McpServerDefinition[];
  readonly stdio: StdioRules;
  /** Whether the public servers are listed. */
  readonly registry: boolean;
}

interface ServerReading {
  /** A wrong value, which stops the start. */
  readonly fault: (fault: ConfigFault) => void;
  /** A value without an effect, which stops the start only where the configuration is strict. */
  readonly faultIfStrict: (fault: ConfigFault) => void;
}

/** Programs are checked separately: a server of the file that may not run only causes a warning. */
const ANY_PROGRAM = (command: unknown): StdioRules => ({ isEnabled: true, extraCommands: [String(command)] });

/** The settings of MCP servers. `values` are rows of the table of settings. */
export function readMcp(
  document: ConfigDocument,
  values: Pick<SettingValues, 'mcpStdio' | 'mcpStdioCommands' | 'mcpRegistry'>,
  reading: ServerReading,
): McpSettings {
  const stdio = { isEnabled: values.mcpStdio, extraCommands: values.mcpStdioCommands };
  return { servers: readMcpServers(document, stdio, reading), stdio, registry: values.mcpRegistry };
}

/** The MCP servers of the file; empty when one has a wrong value. `fault` receives each wrong value. */
function readMcpServers(
  document: ConfigDocument,
  stdio: StdioRules,
  { fault, faultIfStrict }: ServerReading,
): readonly McpServerDefinition[] {
  const at = (path: Path, message: string): ConfigFault => {
    const place = [SECTION, ...path];
    return { ...document.placeOf(place), key: place.join('.'), message };
  };
  let isRefused = false;
  const refuse = (path: Path, message: string): void => {
    isRefused = true;
    fault(at(path, message));
  };
  const section = document.content[SECTION];
  if (section === undefined || section === null || section === false || section === '') return [];
  if (!isJsonObject(section)) {
    refuse([], 'is not a map of servers by name');
    return [];
  }
  const aliases = aliasesOf(document);
  for (const [server, alias] of aliases)
    if (!Object.hasOwn(section, server)) {
      const place = ['litellm_settings', 'mcp_aliases', alias];
      faultIfStrict({ ...document.placeOf(place), key: place.join('.'), message: 'names no server of mcp_servers' });
    }
  const declared = jsonObjectOf(document.declared[SECTION]);
  const definitions: McpServerDefinition[] = [];
  for (const [name, entry] of Object.entries(section)) {
    if (!isJsonObject(entry)) {
      refuse([name], 'is not a map of settings');
      continue;
    }
    const known = Object.entries(entry).filter(([member]) => member === 'server_id' || isMcpServerMember(member));
    for (const member of Object.keys(entry))
      if (!known.some(([one]) => one === member))
        faultIfStrict(at([name, member], unknownMember(member, MCP_MEMBER_NAMES)));
    const definition = definitionOf(name, Object.fromEntries(known), { aliases, declared });
    const message = faultOf(definition, jsonObjectOf(section[name]), definitions);
    if (message !== null) refuse([name], message);
    const usual = message === null ? { ...definition, params: checked(definition.params) } : definition;
    definitions.push(usual);
    if (message !== null) continue;
    for (const [member, reason] of unserved(usual)) faultIfStrict(at([name, member], reason));
    if (isStdioRefused(definition.params, stdio))
      faultIfStrict(
        at([name], 'is not served: LENSGATE_ENABLE_MCP_STDIO is off, or does not allow the command of the server'),
      );
  }
  return isRefused ? [] : definitions;
}

/** Members that have no effect, or with which a server cannot be called, and why. */
function unserved(definition: McpServerDefinition): readonly (readonly [string, string])[] {
  const { params } = definition;
  const { auth } = mcpServerOf(definition);
  return [
    ...(params['spec_path'] === undefined
      ? []
      : [['spec_path', 'has no effect: tools are not made from OpenAPI documents'] as const]),
    ...(params['env_vars'] === undefined ? [] : [['env_vars', 'has no effect'] as const]),
    ...(auth.kind === 'unsupported'
      ? [
          [
            params['is_byok'] === true ? 'is_byok' : 'auth_type',
            `calls fail: ${unsupportedAuth(auth.authType)}`,
          ] as const,
        ]
      : []),
  ];
}

const checked = (params: JsonObject): JsonObject => checkedParams(params, ANY_PROGRAM(params['command']));

/** Why a server cannot be served; null when it can. The values are checked with resolved references. */
function faultOf(
  { id, params }: McpServerDefinition,
  resolved: JsonObject,
  earlier: readonly McpServerDefinition[],
): string | null {
  try {
    const known = Object.fromEntries(Object.entries(resolved).filter(([name]) => isMcpServerMember(name)));
    checked({ ...params, ...known });
    if (params['auth_type'] === 'oauth2' && params['oauth2_flow'] === undefined && !delegates(params))
      throw new InvalidInput('oauth2_flow must be authorization_code or client_credentials');
    if (earlier.some((one) => one.id === id)) throw new InvalidInput('has the server_id of another server');
    assertUniqueNames({ id, params: checked(params) }, earlier);
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const [issue] = error instanceof InvalidInput ? error.issues : [];
    if (issue === undefined) return error.message;
    return `${issue.path.slice(1).join('.')} ${issue.message}`.trim();
  }
}

const delegates = (params: JsonObject): boolean => params['delegate_auth_to_upstream'] === true;

/** A server of the file. Its params are as written: references stay unresolved, so that no list shows their values. */
function definitionOf(
  name: string,
  entry: JsonObject,
  { aliases, declared }: { readonly aliases: ReadonlyMap<string, string>; readonly declared: JsonObject },
): McpServerDefinition {
  const written = jsonObjectOf(declared[name]);
  const known = Object.keys(entry).filter((member) => member !== 'server_id');
  const params = Object.fromEntries(known.map((member) => [member, written[member] ?? entry[member]]));
  const alias = params['alias'] ?? aliases.get(name);
  return {
    id: typeof entry['server_id'] === 'string' ? entry['server_id'] : idOf(name),
    params: {
      ...params,
      server_name: name,
      transport: params['transport'] ?? (typeof params['command'] === 'string' ? 'stdio' : DEFAULT_TRANSPORT),
      ...(alias === undefined ? {} : { alias }),
    },
    isFromConfig: true,
    createdAt: null,
    createdBy: null,
    updatedAt: null,
    updatedBy: null,
  };
}

/** Aliases of `litellm_settings.mcp_aliases`, by name of the server. The first alias of a server applies. */
function aliasesOf({ content }: ConfigDocument): ReadonlyMap<string, string> {
  const aliases = Object.entries(jsonObjectOf(jsonObjectOf(content['litellm_settings'])['mcp_aliases']));
  const byServer = new Map<string, string>();
  for (const [alias, server] of aliases)
    if (typeof server === 'string' && !byServer.has(server)) byServer.set(server, alias);
  return byServer;
}

/** Stable id, equal in every start and every process. */
const idOf = (name: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['mcp server', name]))
    .digest('hex')
    .slice(0, 32);
