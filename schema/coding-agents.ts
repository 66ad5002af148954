import { watchCodingAgent } from '../resolvers/coding-agent-status.ts';
import {
  checkCodingAgent,
  deleteCodingAgent,
  findCodingAgent,
  followUpCodingAgent,
  launchCodingAgent,
  listCodingAgents,
  readConversation,
  stopCodingAgent,
} from '../resolvers/coding-agents.ts';
import type { AgentMessage, AgentState, CodingAgent } from '../src/domain/coding-agents/coding-agent.ts';
import { InvalidInput, LimitExceeded, NotFound, UpstreamFailed } from '../src/domain/errors.ts';
import { usdText, ZERO_USD } from '../src/domain/money.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { CALL_COST } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { creationOrder } from './base/order.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const AGENT_ID = 'The agent: global id or its id at the provider.';
const TYPE = 'CodingAgent';

const AgentMessageRoleType = builder.enumType('CodingAgentMessageRole', {
  description: 'Who wrote a message.',
  values: {
    USER: { value: 'user_message', description: 'The person or program that sends the prompts.' },
    ASSISTANT: { value: 'assistant_message', description: 'The agent.' },
  } as const,
});

const AgentMessageType = builder.objectRef<AgentMessage>('CodingAgentMessage').implement({
  description: 'One message of the conversation with a coding agent.',
  fields: (t) => ({
    messageId: t.exposeString('id', { description: 'Id of the message at the provider.' }),
    role: t.field({
      type: AgentMessageRoleType,
      nullable: true,
      description: 'Who wrote the message. Null when the provider names another role.',
      resolve: ({ type }) => (type === 'user_message' || type === 'assistant_message' ? type : null),
    }),
    text: t.exposeString('text', { description: 'Text of the message.' }),
  }),
});

const SourceType = builder.objectRef<AgentState>('CodingAgentSource').implement({
  description: 'Source code that a coding agent works on.',
  fields: (t) => ({
    url: t.exposeString('repository', {
      nullable: true,
      description: 'Address of the source code. Null when unknown.',
    }),
    ref: t.exposeString('ref', {
      nullable: true,
      description: 'Branch, tag or commit that the agent began with. Null when unknown.',
    }),
  }),
});

const TargetType = builder.objectRef<AgentState>('CodingAgentTarget').implement({
  description: 'Destination of the changes of a coding agent.',
  fields: (t) => ({
    branchName: t.exposeString('branchName', {
      nullable: true,
      description: 'Branch of the changes. Null when unknown.',
    }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'Page of the agent at the provider. Null when unknown.',
    }),
    autoCreatePr: t.exposeBoolean('autoCreatePr', {
      nullable: true,
      description: 'Whether the agent opens a pull request when it has finished. Null when unknown.',
    }),
  }),
});

const CodingAgentType = builder.objectRef<CodingAgent>(TYPE);

builder.node(CodingAgentType, {
  description:
    'A cloud coding agent that was launched through the gateway, with its last known state. The query `codingAgent` asks the provider for the current state.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findCodingAgent(scope, id)),
  fields: (t) => ({
    agentId: t.exposeID('id', { description: 'Its id at the provider.' }),
    name: t.string({
      nullable: true,
      description: 'Name at the provider. Null without one.',
      resolve: ({ state }) => state.name,
    }),
    status: t.string({
      description: 'Status at the provider: `CREATING`, `RUNNING`, `FINISHED`, `ERROR`, `EXPIRED` or another.',
      resolve: ({ state }) => state.status,
    }),
    source: t.field({
      type: SourceType,
      description: 'Source code that the agent works on.',
      resolve: ({ state }) => state,
    }),
    target: t.field({ type: TargetType, description: 'Destination of its changes.', resolve: ({ state }) => state }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was launched through the gateway.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its state was last received.' }),
    keyHash: t.exposeID('keyHash', { description: 'Hash of the key that launched the agent.' }),
    teamId: t.exposeID('teamId', {
      nullable: true,
      description: 'Team of the key that launched the agent. Null when the key has none.',
    }),
    costUsd: t.field({
      type: 'Decimal',
      description: 'Cost in USD: 0, because agents are part of a subscription.',
      resolve: () => usdText(ZERO_USD),
    }),
    conversation: t.field({
      type: [AgentMessageType],
      nullable: true,
      complexity: CALL_COST,
      description: 'Its conversation. Null when it could not be read. Expensive: calls the provider.',
      resolve: async ({ id }, _args, { scope }) => [...(await readConversation(scope, id))],
    }),
  }),
});

const AgentFilterType = builder.inputType('CodingAgentFilter', {
  description: 'Filter of coding agents. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    keyHash: t.id({ description: 'Key that launched the agent: global id or hash.' }),
    teamId: t.id({ description: 'Team of the key that launched the agent: global id or local id.' }),
  }),
});

const AgentOrderType = creationOrder('CodingAgent', 'coding agents');

builder.queryField('codingAgents', (t) =>
  t.connection(
    {
      type: CodingAgentType,
      description:
        'Coding agents that were launched through the gateway, newest first by default. Administrators see all agents. Keys of a team see the agents of the team. Other keys see their own agents. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: AgentFilterType, description: 'All agents when absent.' }),
        orderBy: t.arg({ type: AgentOrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const page = readOrderedPage<'created_at'>(args, orderBy);
        const filters = {
          keyHash: nullIfBlank(localId('VirtualKey', filter?.keyHash)),
          teamId: nullIfBlank(localId('Team', filter?.teamId)),
        };
        const found = await listCodingAgents(scope, { filter: filters, page });
        return rowConnection(found, page, ({ createdAt, id }) => ({ createdAt, id }));
      },
    },
    { ...pageType('CodingAgent', 'coding agents'), fields: (pageFields) => totalCount(pageFields, 'coding agents') },
    edgeType('CodingAgent', 'coding agent'),
  ),
);

builder.queryField('codingAgent', (t) =>
  t.field({
    type: CodingAgentType,
    nullable: true,
    complexity: CALL_COST,
    description:
      'A coding agent with its current state. Fails with NOT_FOUND when there is none that the caller may see. Expensive: calls the provider.',
    args: { id: t.arg.id({ required: true, description: AGENT_ID }) },
    resolve: (_root, { id }, { scope }) => checkCodingAgent(scope, localId(TYPE, id)),
  }),
);

builder.subscriptionField('codingAgentStatus', (t) =>
  t.field({
    type: CodingAgentType,
    complexity: CALL_COST,
    description:
      'A coding agent: its state at the start, and each later state. Ends after `FINISHED`, `ERROR`, `EXPIRED`, `STOPPED`, `CANCELLED` or `DELETED`. All subscribers of one agent in one process share one poll of the provider, whose interval grows while nothing changes.',
    args: { id: t.arg.id({ required: true, description: AGENT_ID }) },
    subscribe: (_root, { id }, { scope }) => watchCodingAgent(scope, localId(TYPE, id)),
    resolve: (agent) => agent,
  }),
);

const LaunchInput = builder.inputType('LaunchCodingAgentInput', {
  description: 'What a new coding agent works on.',
  fields: (t) => ({
    prompt: t.string({ required: true, description: 'Task of the agent.' }),
    sourceUrl: t.string({ required: true, description: 'Address of the source code.' }),
    ref: t.string({ description: 'Branch, tag or commit to begin with. The provider selects one when absent.' }),
    model: t.string({ description: 'Model of the provider. The provider selects one when absent.' }),
    branchName: t.string({ description: 'Branch for the changes; named by the provider when absent.' }),
    autoCreatePr: t.boolean({
      description: 'Whether the agent opens a pull request at the end. The provider decides when absent.',
    }),
  }),
});

const FollowUpInput = builder.inputType('FollowUpCodingAgentInput', {
  description: 'A further prompt for a coding agent.',
  fields: (t) => ({
    id: t.id({ required: true, description: AGENT_ID }),
    prompt: t.string({ required: true, description: 'Text of the prompt.' }),
  }),
});

const StopInput = builder.inputType('StopCodingAgentInput', {
  description: 'The coding agent to stop.',
  fields: (t) => ({ id: t.id({ required: true, description: AGENT_ID }) }),
});

const DeleteInput = builder.inputType('DeleteCodingAgentInput', {
  description: 'The coding agent to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: AGENT_ID }) }),
});

const WRITERS = 'For every key that is not read-only, on agents that it may read.';
const FAILURES = [InvalidInput, NotFound, LimitExceeded, UpstreamFailed];

builder.mutationField('launchCodingAgent', (t) =>
  t.field({
    type: CodingAgentType,
    complexity: CALL_COST,
    description: 'Launches a coding agent. It belongs to the key of the caller. For every key that is not read-only.',
    args: { input: t.arg({ type: LaunchInput, required: true, description: 'Task and source code of the agent.' }) },
    errors: {
      types: [InvalidInput, LimitExceeded, UpstreamFailed],
      union: { name: 'LaunchCodingAgentResult', description: 'The agent, or why it was not launched.' },
    },
    resolve: (_root, { input }, { scope }) =>
      launchCodingAgent(scope, {
        prompt: input.prompt,
        repository: input.sourceUrl,
        ref: input.ref ?? null,
        model: input.model ?? null,
        branchName: input.branchName ?? null,
        autoCreatePr: input.autoCreatePr ?? null,
      }),
  }),
);

builder.mutationField('followUpCodingAgent', (t) =>
  t.field({
    type: CodingAgentType,
    complexity: CALL_COST,
    description: `Adds a prompt to the conversation of a coding agent. ${WRITERS}`,
    args: { input: t.arg({ type: FollowUpInput, required: true, description: 'The agent and the prompt.' }) },
    errors: {
      types: FAILURES,
      union: { name: 'FollowUpCodingAgentResult', description: 'The agent, or why it did not get the prompt.' },
    },
    resolve: (_root, { input: { id, prompt } }, { scope }) =>
      followUpCodingAgent(scope, { id: localId(TYPE, id), prompt }),
  }),
);

builder.mutationField('stopCodingAgent', (t) =>
  t.field({
    type: CodingAgentType,
    complexity: CALL_COST,
    description: `Stops a coding agent. ${WRITERS}`,
    args: { input: t.arg({ type: StopInput, required: true, description: 'The agent.' }) },
    errors: {
      types: FAILURES,
      union: { name: 'StopCodingAgentResult', description: 'The agent, or why it was not stopped.' },
    },
    resolve: (_root, { input: { id } }, { scope }) => stopCodingAgent(scope, localId(TYPE, id)),
  }),
);

builder.mutationField('deleteCodingAgent', (t) =>
  t.field({
    type: CodingAgentType,
    complexity: CALL_COST,
    description: `Deletes a coding agent, at the provider and here. ${WRITERS}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The agent.' }) },
    errors: {
      types: FAILURES,
      union: { name: 'DeleteCodingAgentResult', description: 'The deleted agent, or why it was not deleted.' },
    },
    resolve: (_root, { input: { id } }, { scope }) => deleteCodingAgent(scope, localId(TYPE, id)),
  }),
);
