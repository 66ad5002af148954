import {
  type AgentView,
  createA2aAgent,
  deleteA2aAgent,
  getA2aAgent,
  listA2aAgents,
  publishA2aAgent,
  updateA2aAgent,
} from '../resolvers/a2a-agents.ts';
import type { AgentPatch } from '../src/domain/a2a-agents/agent.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { shownHeaders } from '../src/domain/pass-through/headers.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import { builder, type InputFields } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject, readTexts } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'A2aAgent';
const AGENT_ID = 'The agent: global id or `agentId`.';
const FOR_ADMINS = 'Empty for callers who are not administrators.';

const AgentType = builder.objectRef<AgentView>(TYPE);

builder.node(AgentType, {
  description: 'An agent that clients call by the A2A protocol at `/a2a/{agent}`.',
  id: { resolve: ({ agent }) => agent.id },
  loadMany: nodesOf((id, { scope }) => getA2aAgent(scope, { id })),
  fields: (t) => ({
    agentId: t.string({ description: 'Local id, as in the HTTP API.', resolve: ({ agent }) => agent.id }),
    name: t.string({
      description: 'Name by which clients call the agent. Unique.',
      resolve: ({ agent }) => agent.name,
    }),
    card: t.field({
      type: 'JSON',
      description: 'Agent card. Its `url` is that of the gateway, and for administrators that of the agent.',
      resolve: ({ card }) => card,
    }),
    params: t.field({
      type: 'JSON',
      description: `Prices, guardrails and limits, as \`litellm_params\` in the HTTP API. Secrets are \`REDACTED\`. ${FOR_ADMINS}`,
      resolve: ({ agent, seesSettings }) =>
        (seesSettings ? redacted('litellm_params', agent.params, 'admin') : {}) as AgentView['card'],
    }),
    staticHeaders: t.field({
      type: 'JSON',
      description: `Headers that the agent gets with each call. Values are masked. ${FOR_ADMINS}`,
      resolve: ({ agent, seesSettings }) => (seesSettings ? shownHeaders(agent.staticHeaders) : {}),
    }),
    extraHeaders: t.stringList({
      description: `Names of headers of the client that the agent gets. ${FOR_ADMINS}`,
      resolve: ({ agent, seesSettings }) => (seesSettings ? [...agent.extraHeaders] : []),
    }),
    accessGroupIds: t.stringList({
      description: 'Local ids of access groups whose keys may call the agent.',
      resolve: ({ agent }) => [...agent.accessGroupIds],
    }),
    rpmLimit: t.float({
      nullable: true,
      description: 'Messages a minute of all callers together. Null for no limit.',
      resolve: ({ agent }) => agent.rpmLimit,
    }),
    tpmLimit: t.float({
      nullable: true,
      description: 'Estimated tokens a minute of all callers together. Null for no limit.',
      resolve: ({ agent }) => agent.tpmLimit,
    }),
    sessionRpmLimit: t.float({
      nullable: true,
      description: 'Messages a minute of one session. Null for no limit.',
      resolve: ({ agent }) => agent.sessionRpmLimit,
    }),
    sessionTpmLimit: t.float({
      nullable: true,
      description: 'Estimated tokens a minute of one session. Null for no limit.',
      resolve: ({ agent }) => agent.sessionTpmLimit,
    }),
    enabled: t.boolean({ description: 'Whether calls are served.', resolve: ({ agent }) => agent.enabled }),
    isPublic: t.boolean({
      description: 'Whether everyone sees the card at `/public/agent_hub`.',
      resolve: ({ agent }) => agent.isPublic,
    }),
    hasKillSwitch: t.boolean({
      description: 'Whether `POST /v1/agents/{id}/kill_switch` can stop the agent.',
      resolve: ({ agent }) => agent.killSwitch !== null,
    }),
    isFromConfig: t.boolean({
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
      resolve: ({ agent }) => agent.isFromConfig,
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was stored. Null for an agent of the configuration file.',
      resolve: ({ agent }) => agent.createdAt ?? null,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last changed. Null for an agent of the configuration file.',
      resolve: ({ agent }) => agent.updatedAt ?? null,
    }),
  }),
});

const AgentFilterType = builder.inputType('A2aAgentFilter', {
  description: 'Filter of A2A agents. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
    enabled: t.boolean({ description: 'Exact `enabled`.' }),
    isPublic: t.boolean({ description: 'Exact `isPublic`.' }),
    isFromConfig: t.boolean({ description: 'Whether the agent is in the configuration file.' }),
  }),
});

const AgentOrderType = valueOrder('A2aAgent', 'A2A agents', {
  NAME: { value: 'name', description: 'Name.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When it was stored; agents of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  name: ({ agent }: AgentView) => agent.name,
  created_at: ({ agent }: AgentView) => agent.createdAt?.getTime() ?? 0,
};

const idOf = ({ agent }: AgentView) => agent.id;

builder.queryField('a2aAgents', (t) =>
  t.connection(
    {
      type: AgentType,
      description:
        'A2A agents, by default those of the configuration file first. Administrators see all, other keys those that they name.',
      args: {
        filter: t.arg({ type: AgentFilterType, description: 'All agents when absent.' }),
        orderBy: t.arg({ type: AgentOrderType, description: 'Agents of the configuration file first when absent.' }),
      },
      complexity: pageCost,
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listA2aAgents(scope, undefined).filter(
          ({ agent }) =>
            containsText(agent.name, filter?.name) &&
            matchesValue(agent.enabled, filter?.enabled) &&
            matchesValue(agent.isPublic, filter?.isPublic) &&
            matchesValue(agent.isFromConfig, filter?.isFromConfig),
        );
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    { ...pageType('A2aAgent', 'A2A agents'), fields: (pageFields) => totalCount(pageFields, 'A2A agents') },
    edgeType('A2aAgent', 'A2A agent'),
  ),
);

/** Settings that are optional for a new agent and for a change. */
const settingFields = (t: InputFields) => ({
  card: t.field({
    type: 'JSON',
    description: 'Agent card (A2A specification): an object with the `url` of the agent.',
  }),
  params: t.field({
    type: 'JSON',
    description: 'Prices, guardrails and limits, as `litellm_params` in the HTTP API. They are encrypted.',
  }),
  staticHeaders: t.field({
    type: 'JSON',
    description: 'Headers that the agent gets with each call, by name. They are encrypted.',
  }),
  extraHeaders: t.stringList({ description: 'Names of headers of the client that the agent gets.' }),
  accessGroupIds: t.stringList({ description: 'Local ids of access groups whose keys may call the agent.' }),
  rpmLimit: t.int({ description: 'Messages a minute of all callers together, at least 0.' }),
  tpmLimit: t.int({ description: 'Estimated tokens a minute of all callers together, at least 0.' }),
  sessionRpmLimit: t.int({ description: 'Messages a minute of one session, at least 0.' }),
  sessionTpmLimit: t.int({ description: 'Estimated tokens a minute of one session, at least 0.' }),
  enabled: t.boolean({ description: 'Whether calls are served.' }),
  killSwitch: t.field({
    type: 'JSON',
    description:
      'Request that stops the agent: an object with `url`, `method`, `headers`, `query_params`, `body` and `auth`. It is encrypted.',
  }),
});

const CreateInput = builder.inputType('CreateA2aAgentInput', {
  description: 'An A2A agent to store.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name by which clients call the agent. Unique.' }),
    ...settingFields(t),
  }),
});

const UpdateInput = builder.inputType('UpdateA2aAgentInput', {
  description:
    'Changes to an A2A agent. Null removes a limit and the kill switch. Other null members, and absent ones, stay as they are.',
  fields: (t) => ({
    agent: t.id({ required: true, description: AGENT_ID }),
    name: t.string({ description: 'Name by which clients call the agent. Unique.' }),
    ...settingFields(t),
  }),
});

const namesAgent = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({ agent: t.id({ required: true, description: AGENT_ID }) }),
  });
const DeleteInput = namesAgent('DeleteA2aAgentInput', 'The A2A agent to delete.');
const PublishInput = namesAgent('PublishA2aAgentInput', 'The A2A agent to make public.');

type AgentFields = Omit<typeof UpdateInput.$inferInput, 'agent'>;

const isPresent = <Value>(value: Value | null | undefined): value is Value => value !== null && value !== undefined;

function patchOf(fields: AgentFields): AgentPatch {
  const { name, card, params, staticHeaders, extraHeaders, accessGroupIds, enabled, killSwitch } = fields;
  const { rpmLimit, tpmLimit, sessionRpmLimit, sessionTpmLimit } = fields;
  const limits = { rpmLimit, tpmLimit, sessionRpmLimit, sessionTpmLimit };
  const negative = Object.entries(limits).find(([, limit]) => (limit ?? 0) < 0);
  if (negative !== undefined) throw new InvalidInput(`\`${negative[0]}\` must not be negative.`);
  return {
    ...(isPresent(name) ? { name } : {}),
    ...(isPresent(card) ? { card: readObject(card, 'card') } : {}),
    ...(isPresent(params) ? { params: readObject(params, 'params') } : {}),
    ...(isPresent(staticHeaders) ? { staticHeaders: readTexts(staticHeaders, 'staticHeaders') } : {}),
    ...(isPresent(extraHeaders) ? { extraHeaders } : {}),
    ...(isPresent(accessGroupIds) ? { accessGroupIds } : {}),
    ...(isPresent(enabled) ? { enabled } : {}),
    ...(killSwitch === undefined
      ? {}
      : { killSwitch: killSwitch === null ? null : readObject(killSwitch, 'killSwitch') }),
    ...(Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined)) as AgentPatch),
  };
}

const result = (name: string, description: string) => ({ name, description });

builder.mutationFields((t) => ({
  createA2aAgent: t.field({
    type: AgentType,
    description: `Stores an A2A agent. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The agent.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: result('CreateA2aAgentResult', 'The agent, or why it was not stored.'),
    },
    resolve: (_root, { input: { name, ...fields } }, { scope }) => createA2aAgent(scope, { ...patchOf(fields), name }),
  }),
  updateA2aAgent: t.field({
    type: AgentType,
    description: `Changes a stored A2A agent. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The agent and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: result('UpdateA2aAgentResult', 'The changed agent, or why it was not changed.'),
    },
    resolve: (_root, { input: { agent, ...fields } }, { scope }) =>
      updateA2aAgent(scope, { id: localId(TYPE, agent), patch: patchOf(fields) }),
  }),
  deleteA2aAgent: t.field({
    type: AgentType,
    description: `Deletes a stored A2A agent. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The agent.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: result('DeleteA2aAgentResult', 'The deleted agent, or why it was not deleted.'),
    },
    resolve: (_root, { input }, { scope }) => deleteA2aAgent(scope, { id: localId(TYPE, input.agent) }),
  }),
  publishA2aAgent: t.field({
    type: AgentType,
    description: `Shows the card of a stored A2A agent to everyone. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: PublishInput, required: true, description: 'The agent.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: result('PublishA2aAgentResult', 'The public agent, or why it was not changed.'),
    },
    resolve: async (_root, { input }, { scope }) =>
      (await publishA2aAgent(scope, { id: localId(TYPE, input.agent) })).published,
  }),
}));
