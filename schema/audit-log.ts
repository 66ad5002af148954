import { getAuditEntry, listAuditLog } from '../resolvers/audit-log.ts';
import { ALL_CHANGES, type AuditEntry } from '../src/domain/audit-log/audit-entry.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId, readGlobalId } from './base/global-id.ts';
import { nodesOf } from './base/node-loading.ts';
import { creationOrder } from './base/order.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const AuditActionType = builder.enumType('AuditAction', {
  description: 'What happened to a row.',
  values: {
    CREATED: { value: 'created', description: 'The row is new.' },
    UPDATED: { value: 'updated', description: 'The row was changed.' },
    DELETED: { value: 'deleted', description: 'The row was deleted.' },
    BLOCKED: { value: 'blocked', description: 'The row was blocked.' },
    UNBLOCKED: { value: 'unblocked', description: 'The row was unblocked.' },
    ROTATED: { value: 'rotated', description: 'The secret of a key, or the tokens of a login, were replaced.' },
  } as const,
});

const AuditNounType = builder.enumType('AuditNoun', {
  description: 'Kinds of rows whose changes are recorded.',
  values: {
    KEY: { value: 'key', description: 'Virtual keys.' },
    USER: { value: 'user', description: 'Users.' },
    INVITATION: { value: 'invitation', description: 'Invitations of users.' },
    TEAM: { value: 'team', description: 'Teams.' },
    TEAM_MEMBER: { value: 'team_member', description: 'Members of teams.' },
    ORGANIZATION: { value: 'organization', description: 'Organizations.' },
    ORGANIZATION_MEMBER: { value: 'organization_member', description: 'Members of organizations.' },
    PROJECT: { value: 'project', description: 'Projects.' },
    CUSTOMER: { value: 'customer', description: 'Customers of client applications.' },
    BUDGET: { value: 'budget', description: 'Budgets that other rows refer to.' },
    TAG: { value: 'tag', description: 'Tags of calls.' },
    ACCESS_GROUP: { value: 'access_group', description: 'Access groups.' },
    TOKEN_MAPPING: { value: 'token_mapping', description: 'Mappings of claim values of signed tokens to keys.' },
    DEPLOYMENT: { value: 'deployment', description: 'Deployments that were created at run time.' },
    MODEL_FALLBACK: { value: 'model_fallback', description: 'Fallbacks of models.' },
    CREDENTIAL: { value: 'credential', description: 'Credentials of providers.' },
    SETTINGS: { value: 'settings', description: 'Sections of the stored settings.' },
    A2A_AGENT: { value: 'a2a_agent', description: 'A2A agents, without their secrets.' },
    GUARDRAIL: { value: 'guardrail', description: 'Guardrails, without their parameters.' },
    POLICY: { value: 'policy', description: 'Versions of policies.' },
    POLICY_ATTACHMENT: { value: 'policy_attachment', description: 'Where policies apply.' },
    PROMPT: { value: 'prompt', description: 'Versions of prompts.' },
    VECTOR_STORE: { value: 'vector_store', description: 'Registered vector stores, without their parameters.' },
    VECTOR_STORE_INDEX: { value: 'vector_store_index', description: 'Names for vector stores.' },
    SEARCH_TOOL: { value: 'search_tool', description: 'Search tools, without their parameters.' },
    MCP_SERVER: { value: 'mcp_server', description: 'MCP servers, without their settings.' },
    COMMAND_LINE_SESSION: { value: 'command_line_session', description: 'Logins of command lines with PKCE.' },
    MCP_TOOLSET: { value: 'mcp_toolset', description: 'Toolsets of MCP servers.' },
    PLUGIN: { value: 'plugin', description: 'Plugins of the marketplace.' },
    TOOL: { value: 'tool', description: 'Policies of tools of models.' },
    TOOL_OVERRIDE: { value: 'tool_override', description: 'Tools that are blocked for a team or a key.' },
    PASS_THROUGH_ENDPOINT: { value: 'pass_through_endpoint', description: 'Paths whose calls are forwarded.' },
  } as const,
});

const AuditEntryType = builder.objectRef<AuditEntry>('AuditEntry');

builder.node(AuditEntryType, {
  description: 'One change of one row.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getAuditEntry(scope, { id })),
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the row was changed.' }),
    changedBy: t.exposeID('changedBy', {
      description: 'User in the header `litellm-changed-by`. Without this header, the same as `actor`.',
    }),
    actor: t.exposeID('actor', {
      nullable: true,
      description:
        'User of the credential that made the change, else the hash of its key. For periodic work: `system: ` and the name of the task. Null for entries of earlier versions.',
    }),
    changedByKey: t.exposeID('changedByKey', {
      nullable: true,
      description: 'Hash of the virtual key that made the change. Null for the admin key, and for periodic work.',
    }),
    action: t.expose('action', { type: AuditActionType, description: 'What happened.' }),
    noun: t.expose('noun', { type: AuditNounType, description: 'Kind of the row.' }),
    objectId: t.exposeID('objectId', { description: 'Id of the row. For a key: its hash.' }),
    teamId: t.exposeID('teamId', {
      nullable: true,
      description: 'Team of the row. For a team: its own id. Null when the row has none.',
    }),
    before: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The row before the change, without secrets. Null for a new row.',
      resolve: ({ before }) => before,
    }),
    after: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The row after the change, without secrets. Null for a deleted row.',
      resolve: ({ after }) => after,
    }),
  }),
});

const AuditLogFilterType = builder.inputType('AuditLogFilter', {
  description: 'Filter of changes. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    changedBy: t.id({ description: 'Exact `changedBy`, or the global id of a user.' }),
    changedByKey: t.id({ description: 'Key that made the change: global id or hash.' }),
    action: t.field({ type: AuditActionType, description: 'What happened.' }),
    noun: t.field({ type: AuditNounType, description: 'Kind of the row.' }),
    objectId: t.id({ description: 'The row: global id or local id.' }),
    teamId: t.id({ description: 'Team of the row: global id or local id.' }),
    from: t.field({ type: 'DateTime', description: 'Earliest time, inclusive.' }),
    to: t.field({ type: 'DateTime', description: 'Latest time, exclusive.' }),
  }),
});

const AuditLogOrderType = creationOrder('AuditLog', 'changes');

builder.queryField('auditLog', (t) =>
  t.connection(
    {
      type: AuditEntryType,
      description:
        'Changes of keys, teams, users, models, settings and other rows, newest first by default. For proxy administrators with full or read-only access. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: AuditLogFilterType, description: 'All changes when absent.' }),
        orderBy: t.arg({ type: AuditLogOrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const page = readOrderedPage<'created_at'>(args, orderBy);
        const { entries, ...counts } = await listAuditLog(scope, {
          filter: {
            ...ALL_CHANGES,
            changedBy: nullIfBlank(localId('User', filter?.changedBy)),
            changedByKey: nullIfBlank(localId('VirtualKey', filter?.changedByKey)),
            action: filter?.action ?? null,
            noun: filter?.noun ?? null,
            objectId: nullIfBlank(readGlobalId(filter?.objectId ?? '')?.id ?? filter?.objectId),
            teamId: nullIfBlank(localId('Team', filter?.teamId)),
            from: filter?.from ?? null,
            to: filter?.to ?? null,
          },
          sort: page.sort,
          descending: page.descending,
          limit: page.limit,
          from: page.from,
        });
        return rowConnection({ ...counts, nodes: entries }, page, (entry) => entry);
      },
    },
    { ...pageType('AuditLog', 'changes'), fields: (pageFields) => totalCount(pageFields, 'changes') },
    edgeType('AuditLog', 'change'),
  ),
);
