import {
  type AgentView,
  createA2aAgent,
  deleteA2aAgent,
  getA2aAgent,
  listA2aAgents,
  listAgentIdentityProviders,
  listPublicAgents,
  type Publication,
  publishA2aAgent,
  publishA2aAgents,
  stopA2aAgent,
  updateA2aAgent,
} from '../resolvers/a2a-agents.ts';
import { type AgentPatch, DEFAULT_AGENT } from '../src/domain/a2a-agents/agent.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { shownHeaders } from '../src/domain/pass-through/headers.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import {
  flag,
  members,
  object,
  optional,
  orNull,
  parseObject,
  recordOf,
  requiredText,
  requiredTexts,
  text,
  texts,
  wholeNumber,
} from './helpers/http/body-fields.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const settings = {
  agent_card_params: optional(orNull(object)),
  litellm_params: optional(orNull(object)),
  static_headers: optional(recordOf(text)),
  extra_headers: optional(texts),
  object_permission: optional(orNull(object)),
  tpm_limit: optional(wholeNumber),
  rpm_limit: optional(wholeNumber),
  session_tpm_limit: optional(wholeNumber),
  session_rpm_limit: optional(wholeNumber),
  access_group_ids: optional(texts),
  enabled: optional(flag),
  execution_mode: text,
  identity: optional(orNull(object)),
  kill_switch: optional(orNull(object)),
} as const;

const readDraft = members({ agent_name: requiredText, ...settings });
const readPatch = members({ agent_name: text, ...settings });
const readIds = members({ agent_ids: requiredTexts });

type SentFields = Omit<ReturnType<typeof readPatch>, 'agent_name'>;

const LIMITS = ['tpm_limit', 'rpm_limit', 'session_tpm_limit', 'session_rpm_limit'] as const;

/** Throws InvalidInput for members that this product does not serve, and for negative limits. */
function assertServed(input: SentFields): void {
  if (input.identity) throw new InvalidInput('identity is not supported: agents have no identities of their own here');
  const negative = LIMITS.find((name) => (input[name] ?? 0) < 0);
  if (negative !== undefined) throw new InvalidInput(`${negative} must not be negative`);
}

/** Changes of a body. Members that were not sent are absent; null removes a value. Throws InvalidInput. */
function patchOf(input: SentFields): AgentPatch {
  assertServed(input);
  const changes: AgentPatch = {
    ...(input.agent_card_params === undefined ? {} : { card: input.agent_card_params ?? {} }),
    ...(input.litellm_params === undefined ? {} : { params: input.litellm_params ?? {} }),
    ...(input.static_headers === undefined ? {} : { staticHeaders: input.static_headers ?? {} }),
    ...(input.extra_headers === undefined ? {} : { extraHeaders: input.extra_headers }),
    ...(input.object_permission === undefined ? {} : { objectPermission: input.object_permission }),
    ...(input.tpm_limit === undefined ? {} : { tpmLimit: input.tpm_limit }),
    ...(input.rpm_limit === undefined ? {} : { rpmLimit: input.rpm_limit }),
    ...(input.session_tpm_limit === undefined ? {} : { sessionTpmLimit: input.session_tpm_limit }),
    ...(input.session_rpm_limit === undefined ? {} : { sessionRpmLimit: input.session_rpm_limit }),
    ...(input.access_group_ids === undefined ? {} : { accessGroupIds: input.access_group_ids }),
    ...(typeof input.enabled === 'boolean' ? { enabled: input.enabled } : {}),
    ...(input.execution_mode === null ? {} : { executionMode: input.execution_mode }),
    ...(input.kill_switch === undefined ? {} : { killSwitch: input.kill_switch }),
  };
  return changes;
}

function parseDraft({ body }: HttpRequest) {
  const { agent_name: name, ...input } = readDraft(parseObject(body));
  return { name, ...patchOf(input) };
}

/** A replacement: members that were not sent get their defaults. An agent stays public. */
function parseReplacement({ body, params }: HttpRequest) {
  const { agent_name: name, ...input } = readDraft(parseObject(body));
  const { isPublic: _isPublic, ...defaults } = DEFAULT_AGENT;
  return { id: params['id'] ?? '', patch: { ...defaults, card: {}, name, ...patchOf(input) } };
}

function parsePatch({ body, params }: HttpRequest) {
  const { agent_name: name, ...input } = readPatch(parseObject(body));
  return { id: params['id'] ?? '', patch: { ...(name === null ? {} : { name }), ...patchOf(input) } };
}

const idIn = ({ params }: HttpRequest): { readonly id: string } => ({ id: params['id'] ?? '' });

/** Identity of an agent. Agents have none here. */
const identityOf = ({ agent }: AgentView) => ({
  identity: null,
  identity_managed: false,
  enabled: agent.enabled,
  execution_mode: agent.executionMode,
});

/** An agent. Secrets are hidden; callers who are not administrators see no settings. */
const renderAgent = (view: AgentView) => {
  const { agent, card, seesSettings } = view;
  return {
    ...identityOf(view),
    jwt_auth_configured: false,
    agent_id: agent.id,
    agent_name: agent.name,
    litellm_params: seesSettings ? redacted('litellm_params', agent.params, 'admin') : {},
    agent_card_params: card,
    object_permission: seesSettings ? agent.objectPermission : null,
    // Spend is reported by model (`a2a_agent/<name>`), not by agent.
    spend: 0,
    tpm_limit: agent.tpmLimit,
    rpm_limit: agent.rpmLimit,
    session_tpm_limit: agent.sessionTpmLimit,
    session_rpm_limit: agent.sessionRpmLimit,
    static_headers: seesSettings ? shownHeaders(agent.staticHeaders) : {},
    extra_headers: seesSettings ? agent.extraHeaders : [],
    access_group_ids: agent.accessGroupIds,
    kill_switch: seesSettings ? redacted('kill_switch', agent.killSwitch, 'admin') : null,
    keys: null,
    search_score: null,
    created_at: agent.createdAt?.toISOString() ?? null,
    updated_at: agent.updatedAt?.toISOString() ?? null,
    created_by: agent.createdBy ?? null,
    updated_by: agent.updatedBy ?? null,
  };
};

const answerOf = (view: AgentView): HttpAnswer => json(renderAgent(view));

const renderPublication = ({ ids, by }: Publication): HttpAnswer =>
  json({ message: 'Successfully updated public agent groups', public_agent_groups: ids, updated_by: by });

const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT, ...FORM, bodyLimit: 1024 * 1024 } as const;
const PATH = '/v1/agents';

/** Registry of A2A agents. A masked or redacted secret in a change keeps the stored value. */
export const a2aAgentRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'a2aAgents.list',
    paths: [PATH],
    statuses: [200, 401],
    parse: () => undefined,
    run: listA2aAgents,
    render: (views) => json(views.map(renderAgent)),
  }),
  route({
    ...CHANGE,
    name: 'a2aAgents.create',
    method: 'POST',
    paths: [PATH],
    bodySchema: readDraft.schema,
    statuses: [200, 400, 401, 403, 422],
    parse: parseDraft,
    run: createA2aAgent,
    render: answerOf,
  }),
  route({
    ...READ,
    name: 'a2aAgents.get',
    paths: [`${PATH}/:id`],
    statuses: [200, 401, 403, 404],
    parse: idIn,
    run: getA2aAgent,
    render: answerOf,
  }),
  route({
    ...CHANGE,
    name: 'a2aAgents.replace',
    method: 'PUT',
    paths: [`${PATH}/:id`],
    bodySchema: readDraft.schema,
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseReplacement,
    run: updateA2aAgent,
    render: answerOf,
  }),
  route({
    ...CHANGE,
    name: 'a2aAgents.update',
    method: 'PATCH',
    paths: [`${PATH}/:id`],
    bodySchema: readPatch.schema,
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parsePatch,
    run: updateA2aAgent,
    render: answerOf,
  }),
  route({
    ...CHANGE,
    name: 'a2aAgents.delete',
    method: 'DELETE',
    bodyLimit: 1024,
    paths: [`${PATH}/:id`],
    statuses: [200, 400, 401, 403, 404],
    parse: idIn,
    run: deleteA2aAgent,
    render: ({ agent }) => json({ message: `Agent ${agent.id} deleted successfully` }),
  }),
  route({
    ...CHANGE,
    name: 'a2aAgents.publish',
    method: 'POST',
    paths: [`${PATH}/:id/make_public`],
    statuses: [200, 400, 401, 403, 404],
    parse: idIn,
    run: publishA2aAgent,
    render: renderPublication,
  }),
  route({
    ...CHANGE,
    name: 'a2aAgents.publishAll',
    method: 'POST',
    paths: [`${PATH}/make_public`],
    bodySchema: readIds.schema,
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ body }) => ({ ids: readIds(parseObject(body)).agent_ids }),
    run: publishA2aAgents,
    render: renderPublication,
  }),
  route({
    ...READ,
    name: 'a2aAgents.identity',
    paths: [`${PATH}/:id/identity`],
    statuses: [200, 401, 403, 404],
    parse: idIn,
    run: getA2aAgent,
    render: (view) => json({ ...identityOf(view), last_authenticated_at: null }),
  }),
  route({
    ...READ,
    name: 'a2aAgents.identityProviders',
    paths: [`${PATH}/identity/providers`],
    statuses: [200, 401, 403],
    parse: () => undefined,
    run: listAgentIdentityProviders,
    render: (providers) => json({ providers }),
  }),
  route({
    ...CHANGE,
    name: 'a2aAgents.stop',
    method: 'POST',
    paths: [`${PATH}/:id/kill_switch`],
    statuses: [200, 400, 401, 403, 404, 502],
    parse: idIn,
    run: stopA2aAgent,
    render: ({ id, status }) =>
      json({ message: `Kill switch of agent ${id} executed successfully`, agent_id: id, status_code: status }),
  }),
  route({
    method: 'GET',
    surface: 'catalog',
    credential: 'offered',
    bodyLimit: 0,
    name: 'a2aAgents.hub',
    paths: ['/public/agent_hub'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listPublicAgents,
    render: (cards) => json(cards),
  }),
];
