import {
  appendWorkflowEvent,
  appendWorkflowMessage,
  createWorkflowRun,
  deleteWorkflowRun,
  getWorkflowRuns,
  listWorkflowEvents,
  listWorkflowMessages,
  listWorkflowRuns,
  updateWorkflowRun,
} from '../resolvers/workflows.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';
import type { WorkflowEvent, WorkflowMessage, WorkflowRun } from '../src/domain/workflows/workflow-run.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { CALL_COST } from './base/limits.ts';
import { creationOrder } from './base/order.ts';
import { readOrderedPage, rowConnection } from './base/row-pages.ts';

const TYPE = 'WorkflowRun';
const RUN_ID = 'The run: global id or `runId`.';
const MAX_ENTRIES = 500;
/** Entries may be large, so that an operation reads few lists of them. */
const ENTRIES_COST = { field: CALL_COST, multiplier: 1 };

const StatusType = builder.enumType('WorkflowStatus', {
  description: 'Status of a run of a workflow.',
  values: {
    PENDING: { value: 'pending', description: 'Nothing was done yet.' },
    RUNNING: { value: 'running', description: 'A step runs.' },
    PAUSED: { value: 'paused', description: 'The run waits for something outside.' },
    COMPLETED: { value: 'completed', description: 'The run has ended.' },
    FAILED: { value: 'failed', description: 'A step has failed.' },
  } as const,
});

const EventType = builder.objectRef<WorkflowEvent>('WorkflowEvent').implement({
  description: 'A step of a run. Events are never changed.',
  fields: (t) => ({
    eventId: t.exposeID('id', { description: 'Id, as in the HTTP API.' }),
    sequence: t.exposeInt('sequence', { description: 'Position in the run, from 0.' }),
    type: t.exposeString('type', { description: 'Kind of the event, such as `step.started`.' }),
    stepName: t.exposeString('stepName', { description: 'Name of the step.' }),
    data: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the client stored with the event: an object. Null for none.',
      resolve: ({ data }) => data,
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When the event was stored.' }),
  }),
});

const MessageType = builder.objectRef<WorkflowMessage>('WorkflowMessage').implement({
  description: 'A message of the conversation of a run. Messages are never changed.',
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Id, as in the HTTP API.' }),
    sequence: t.exposeInt('sequence', { description: 'Position in the run, from 0.' }),
    role: t.exposeString('role', { description: 'Who wrote it, such as `user`.' }),
    content: t.exposeString('content', { description: 'Text of the message.' }),
    sessionId: t.exposeString('sessionId', { nullable: true, description: 'Session of the message. Null for none.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When the message was stored.' }),
  }),
});

const RunType = builder.objectRef<WorkflowRun>(TYPE);

interface EntryArgs {
  readonly first?: number | null | undefined;
  readonly offset?: number | null | undefined;
}

/** Reads the arguments of a list of entries. Throws InvalidInput. */
function entryPage({ first, offset }: EntryArgs) {
  const from = offset ?? 0;
  if (from < 0) throw new InvalidInput('`offset` must be at least 0.');
  return { limit: checkedPageSize(first ?? 100, { name: 'first', max: MAX_ENTRIES }), after: from - 1 };
}

builder.node(RunType, {
  description: 'State of one run of an agent or another workflow, which its client stores.',
  id: { resolve: ({ id }) => id },
  async loadMany(ids, { scope }) {
    const byId = new Map((await getWorkflowRuns(scope, { ids })).map((one) => [one.id, one]));
    return ids.map((id) => byId.get(id) ?? null);
  },
  fields: (t) => ({
    runId: t.exposeID('id', { description: 'Local id, as in the HTTP API.' }),
    sessionId: t.exposeString('sessionId', {
      description: 'Session of the model calls of the run: clients send it as the header `x-litellm-session-id`.',
    }),
    type: t.exposeString('type', { description: 'Kind of the workflow: `workflow_type` in the HTTP API.' }),
    status: t.field({ type: StatusType, description: 'Status of the run.', resolve: ({ status }) => status }),
    keyHash: t.exposeString('keyHash', { description: 'Hash of the key that created the run.' }),
    input: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the run was started with: an object. Null for none.',
      resolve: ({ input }) => input,
    }),
    output: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Result of the run: an object. Null for none.',
      resolve: ({ output }) => output,
    }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the client stores with the run: an object. Null for none.',
      resolve: ({ metadata }) => metadata,
    }),
    eventCount: t.exposeInt('eventCount', { description: 'Number of events.' }),
    messageCount: t.exposeInt('messageCount', { description: 'Number of messages.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the run was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the run or its entries last changed.' }),
    events: t.field({
      type: [EventType],
      nullable: true,
      description: 'Events in their order.',
      complexity: ENTRIES_COST,
      args: {
        first: t.arg.int({ description: 'Number of events, 1 to 500; 100 when absent.' }),
        offset: t.arg.int({ description: 'Position of the first event; 0 when absent.' }),
      },
      resolve: async ({ id }, args, { scope }) => [
        ...(await listWorkflowEvents(scope, { runId: id, ...entryPage(args) })),
      ],
    }),
    messages: t.field({
      type: [MessageType],
      nullable: true,
      description: 'Messages in their order.',
      complexity: ENTRIES_COST,
      args: {
        first: t.arg.int({ description: 'Number of messages, 1 to 500; 100 when absent.' }),
        offset: t.arg.int({ description: 'Position of the first message; 0 when absent.' }),
      },
      resolve: async ({ id }, args, { scope }) => [
        ...(await listWorkflowMessages(scope, { runId: id, ...entryPage(args) })),
      ],
    }),
  }),
});

const FilterType = builder.inputType('WorkflowRunFilter', {
  description: 'Filter of runs. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    type: t.string({ description: 'Exact kind of the workflow.' }),
    statuses: t.field({ type: [StatusType], description: 'Statuses, one of which a run must have.' }),
  }),
});

const OrderType = creationOrder(TYPE, 'runs');

builder.queryField('workflowRuns', (t) =>
  t.connection(
    {
      type: RunType,
      description:
        'Runs that the key created, newest first by default, at most 100 a page. Administrators see the runs of all keys.',
      complexity: ENTRIES_COST,
      args: {
        filter: t.arg({ type: FilterType, description: 'All runs when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = readOrderedPage(args, args.orderBy);
        const conditions = { type: nullIfBlank(filter?.type), statuses: filter?.statuses ?? null };
        return rowConnection(await listWorkflowRuns(scope, { filter: conditions, page }), page, (row) => row);
      },
    },
    { ...pageType(TYPE, 'runs'), fields: (pageFields) => totalCount(pageFields, 'runs') },
    edgeType(TYPE, 'run'),
  ),
);

const CreateInput = builder.inputType('CreateWorkflowRunInput', {
  description: 'A new run.',
  fields: (t) => ({
    type: t.string({ required: true, description: 'Kind of the workflow, of at most 256 characters.' }),
    input: t.field({
      type: 'JSON',
      description: 'What the run is started with: an object of at most 65,536 characters.',
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'What to store with the run: an object of at most 65,536 characters.',
    }),
  }),
});

const UpdateInput = builder.inputType('UpdateWorkflowRunInput', {
  description: 'Changes of a run. Absent members stay as they are.',
  fields: (t) => ({
    run: t.id({ required: true, description: RUN_ID }),
    status: t.field({ type: StatusType, description: 'New status.' }),
    output: t.field({ type: 'JSON', description: 'Result of the run: an object.' }),
    metadata: t.field({ type: 'JSON', description: 'Replaces what is stored with the run: an object.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteWorkflowRunInput', {
  description: 'The run to remove.',
  fields: (t) => ({ run: t.id({ required: true, description: RUN_ID }) }),
});

const EventInput = builder.inputType('AppendWorkflowEventInput', {
  description:
    'An event. The types `step.started` and `hook.received` set the status `RUNNING`, `step.failed` sets `FAILED`, and `hook.waiting` sets `PAUSED`.',
  fields: (t) => ({
    run: t.id({ required: true, description: RUN_ID }),
    type: t.string({ required: true, description: 'Kind of the event, of at most 256 characters.' }),
    stepName: t.string({ required: true, description: 'Name of the step, of at most 256 characters.' }),
    data: t.field({
      type: 'JSON',
      description: 'What to store with the event: an object of at most 65,536 characters.',
    }),
  }),
});

const MessageInput = builder.inputType('AppendWorkflowMessageInput', {
  description: 'A message of the conversation.',
  fields: (t) => ({
    run: t.id({ required: true, description: RUN_ID }),
    role: t.string({ required: true, description: 'Who wrote it, such as `user`.' }),
    content: t.string({ required: true, description: 'Text of at most 524,288 characters.' }),
    sessionId: t.string({ description: 'Session of the message.' }),
  }),
});

const objectOf = (value: unknown, name: string) =>
  value === null || value === undefined ? null : readObject(value, name);

builder.mutationFields((t) => ({
  createWorkflowRun: t.field({
    type: RunType,
    description: 'Stores a new run of a workflow.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The run.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'CreateWorkflowRunResult', description: 'The run, or why it was not stored.' },
    },
    resolve: (_root, { input: { type, input, metadata } }, { scope }) =>
      createWorkflowRun(scope, { type, input: objectOf(input, 'input'), metadata: objectOf(metadata, 'metadata') }),
  }),
  updateWorkflowRun: t.field({
    type: RunType,
    description: 'Changes a run of a workflow.',
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The run and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateWorkflowRunResult', description: 'The run, or why it was not changed.' },
    },
    resolve(_root, { input: { run, status, ...input } }, { scope }) {
      const [output, metadata] = [objectOf(input.output, 'output'), objectOf(input.metadata, 'metadata')];
      const patch = {
        ...(status ? { status } : {}),
        ...(output === null ? {} : { output }),
        ...(metadata === null ? {} : { metadata }),
      };
      return updateWorkflowRun(scope, { id: localId(TYPE, run), patch });
    },
  }),
  deleteWorkflowRun: t.field({
    type: RunType,
    description: 'Removes a run with its events and messages.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The run.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteWorkflowRunResult', description: 'The removed run, or why it was not removed.' },
    },
    resolve: (_root, { input: { run } }, { scope }) => deleteWorkflowRun(scope, { id: localId(TYPE, run) }),
  }),
  appendWorkflowEvent: t.field({
    type: EventType,
    description: 'Appends an event to a run, which may change its status.',
    args: { input: t.arg({ type: EventInput, required: true, description: 'The event.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'AppendWorkflowEventResult', description: 'The event, or why it was not stored.' },
    },
    resolve: (_root, { input: { run, type, stepName, data } }, { scope }) =>
      appendWorkflowEvent(scope, { id: localId(TYPE, run), type, stepName, data: objectOf(data, 'data') }),
  }),
  appendWorkflowMessage: t.field({
    type: MessageType,
    description: 'Appends a message to a run.',
    args: { input: t.arg({ type: MessageInput, required: true, description: 'The message.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'AppendWorkflowMessageResult', description: 'The message, or why it was not stored.' },
    },
    resolve: (_root, { input: { run, role, content, sessionId } }, { scope }) =>
      appendWorkflowMessage(scope, { id: localId(TYPE, run), role, content, sessionId: sessionId ?? null }),
  }),
}));
