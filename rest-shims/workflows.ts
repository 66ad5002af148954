import {
  appendWorkflowEvent,
  appendWorkflowMessage,
  createWorkflowRun,
  deleteWorkflowRun,
  getWorkflowState,
  listWorkflowEvents,
  listWorkflowMessages,
  listWorkflowRuns,
  updateWorkflowRun,
} from '../resolvers/workflows.ts';
import {
  WORKFLOW_STATUSES,
  type WorkflowEvent,
  type WorkflowMessage,
  type WorkflowRun,
} from '../src/domain/workflows/workflow-run.ts';
import {
  literalOf,
  members,
  object,
  optional,
  orNull,
  parseObject,
  requiredText,
  text,
} from './helpers/http/body-fields.ts';
import { integer, query, text as parameter } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const readNew = members({
  workflow_type: requiredText,
  input: optional(orNull(object)),
  metadata: optional(orNull(object)),
});
const readPatch = members({
  status: literalOf(WORKFLOW_STATUSES),
  output: optional(orNull(object)),
  metadata: optional(orNull(object)),
});
const readEvent = members({ event_type: requiredText, step_name: requiredText, data: optional(orNull(object)) });
const readMessage = members({ role: requiredText, content: requiredText, session_id: text });

const MAX_RUNS_OF_PAGE = 250;
const MAX_ENTRIES_OF_PAGE = 500;
const readRuns = query({
  workflow_type: parameter,
  status: parameter,
  limit: integer({ min: 1, max: MAX_RUNS_OF_PAGE, defaultValue: 50 }),
});
/** `offset` is the `sequence_number` at which the page begins. */
const readEntries = query({
  limit: integer({ min: 1, max: MAX_ENTRIES_OF_PAGE, defaultValue: 100 }),
  offset: integer({ min: 0, max: 1_000_000, defaultValue: 0 }),
});

const idIn = ({ params: { id = '' } }: HttpRequest): { readonly id: string } => ({ id });

/** Statuses in a list with commas. Unknown ones match no run. */
const statusesIn = (sent: string) => {
  const names = new Set(sent.split(',').map((name) => name.trim()));
  return WORKFLOW_STATUSES.filter((status) => names.has(status));
};

function parseRuns({ search }: HttpRequest) {
  const { workflow_type: type, status, limit } = readRuns(search);
  return {
    filter: { type: type || null, statuses: status ? statusesIn(status) : null },
    page: { sort: 'created_at', descending: true, limit: Number(limit), from: 0 } as const,
  };
}

function parsePatch(request: HttpRequest) {
  const { status, output, metadata } = readPatch(parseObject(request.body));
  const patch = {
    ...(status === null ? {} : { status }),
    ...(output === undefined || output === null ? {} : { output }),
    ...(metadata === undefined || metadata === null ? {} : { metadata }),
  };
  return { ...idIn(request), patch };
}

function parseEntries(request: HttpRequest) {
  const { limit, offset } = readEntries(request.search);
  return { runId: idIn(request).id, limit: Number(limit), after: Number(offset) - 1 };
}

const renderRun = (run: WorkflowRun) => ({
  run_id: run.id,
  session_id: run.sessionId,
  workflow_type: run.type,
  status: run.status,
  created_by: run.keyHash,
  created_at: run.createdAt.toISOString(),
  updated_at: run.updatedAt.toISOString(),
  input: run.input,
  output: run.output,
  metadata: run.metadata,
});

const renderEvent = (event: WorkflowEvent) => ({
  event_id: event.id,
  run_id: event.runId,
  event_type: event.type,
  step_name: event.stepName,
  sequence_number: event.sequence,
  data: event.data,
  created_at: event.at.toISOString(),
});

const renderMessage = (message: WorkflowMessage) => ({
  message_id: message.id,
  run_id: message.runId,
  role: message.role,
  content: message.content,
  sequence_number: message.sequence,
  session_id: message.sessionId,
  created_at: message.at.toISOString(),
});

const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;
const RUNS = '/v1/workflows/runs';
const RUN = `${RUNS}/:id` as const;

/** Runs of workflows, with their events and messages. */
export const workflowRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'workflows.list',
    querySchema: readRuns.schema,
    paths: [RUNS],
    statuses: [200, 401, 422],
    parse: parseRuns,
    run: listWorkflowRuns,
    render: ({ nodes }) => json({ runs: nodes.map(renderRun), count: nodes.length }),
  }),
  route({
    ...CHANGE,
    name: 'workflows.create',
    bodySchema: readNew.schema,
    paths: [RUNS],
    statuses: [200, 400, 401, 403, 422],
    parse({ body }) {
      const { workflow_type: type, input = null, metadata = null } = readNew(parseObject(body));
      return { type, input, metadata };
    },
    run: createWorkflowRun,
    render: (run) => json(renderRun(run)),
  }),
  route({
    ...READ,
    name: 'workflows.get',
    paths: [RUN],
    statuses: [200, 401, 404],
    parse: idIn,
    run: getWorkflowState,
    render: ({ run, lastEvent }) =>
      json({ ...renderRun(run), events: lastEvent === null ? [] : [renderEvent(lastEvent)] }),
  }),
  route({
    ...CHANGE,
    method: 'PATCH',
    name: 'workflows.update',
    bodySchema: readPatch.schema,
    paths: [RUN],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parsePatch,
    run: updateWorkflowRun,
    render: (run) => json(renderRun(run)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'workflows.delete',
    paths: [RUN],
    statuses: [200, 401, 403, 404],
    parse: idIn,
    run: deleteWorkflowRun,
    render: ({ id }) => json({ run_id: id, deleted: true }),
  }),
  route({
    ...CHANGE,
    name: 'workflows.appendEvent',
    bodySchema: readEvent.schema,
    paths: [`${RUN}/events`],
    statuses: [200, 400, 401, 403, 404, 422],
    parse(request) {
      const { event_type: type, step_name: stepName, data = null } = readEvent(parseObject(request.body));
      return { ...idIn(request), type, stepName, data };
    },
    run: appendWorkflowEvent,
    render: (event) => json(renderEvent(event)),
  }),
  route({
    ...READ,
    name: 'workflows.events',
    querySchema: readEntries.schema,
    paths: [`${RUN}/events`],
    statuses: [200, 401, 404, 422],
    parse: parseEntries,
    run: listWorkflowEvents,
    render: (events) => json({ events: events.map(renderEvent), count: events.length }),
  }),
  route({
    ...CHANGE,
    name: 'workflows.appendMessage',
    bodySchema: readMessage.schema,
    paths: [`${RUN}/messages`],
    statuses: [200, 400, 401, 403, 404, 422],
    parse(request) {
      const { role, content, session_id: sessionId } = readMessage(parseObject(request.body));
      return { ...idIn(request), role, content, sessionId };
    },
    run: appendWorkflowMessage,
    render: (message) => json(renderMessage(message)),
  }),
  route({
    ...READ,
    name: 'workflows.messages',
    querySchema: readEntries.schema,
    paths: [`${RUN}/messages`],
    statuses: [200, 401, 404, 422],
    parse: parseEntries,
    run: listWorkflowMessages,
    render: (messages) => json({ messages: messages.map(renderMessage), count: messages.length }),
  }),
];
