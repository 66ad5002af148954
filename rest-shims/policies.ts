import {
  checkPolicies,
  comparePolicies,
  createPolicy,
  createPolicyVersion,
  deletePolicy,
  deletePolicyVersions,
  getPolicy,
  getPolicyByName,
  getPolicyUse,
  listPolicies,
  listPolicyVersions,
  getPolicyGuardrails,
  setPolicyStatus,
  updatePolicy,
} from '../resolvers/policies.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { pipelineOf } from '../src/domain/policies/pipeline.ts';
import { type PolicyDraft, type PolicyPatch, VERSION_STATUSES } from '../src/domain/policies/policy.ts';
import {
  renderCheck,
  renderComparison,
  renderPolicies,
  renderPolicy,
  renderPolicyUse,
  renderVersions,
} from './helpers/answers/policies.ts';
import {
  dictionary,
  members,
  object,
  optional,
  orNull,
  parseObject,
  required,
  requiredText,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { choiceOf, query, requiredText as queryRequired, text as queryText } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const readPolicy = members({
  policy_name: requiredText,
  inherit: text,
  description: text,
  guardrails_add: texts,
  guardrails_remove: texts,
  condition: optional(orNull(object)),
  pipeline: optional(orNull(object)),
});
const readPatch = members({
  policy_name: text,
  inherit: optional(text),
  description: optional(text),
  guardrails_add: optional(texts),
  guardrails_remove: optional(texts),
  condition: optional(orNull(object)),
  pipeline: optional(orNull(object)),
});
const readSource = members({ source_policy_id: text });
const readStatus = members({ version_status: requiredText });
const readEntries = members({ policies: required(dictionary) });
const readStatusFilter = query({ version_status: choiceOf(VERSION_STATUSES) });
const readVersions = query({ version_a: queryRequired, version_b: queryRequired });
const readPeriod = query({ start_date: queryText, end_date: queryText });

function parseNew({ body }: HttpRequest): PolicyDraft {
  const input = readPolicy(parseObject(body));
  return {
    name: input.policy_name,
    inherit: input.inherit,
    description: input.description,
    guardrailsAdd: input.guardrails_add,
    guardrailsRemove: input.guardrails_remove,
    condition: input.condition ?? null,
    pipeline: pipelineOf(input.pipeline),
  };
}

function parsePatch({ body, params }: HttpRequest): { readonly id: string; readonly patch: PolicyPatch } {
  const input = readPatch(parseObject(body));
  const { inherit, description, guardrails_add: guardrailsAdd, guardrails_remove: guardrailsRemove } = input;
  const patch = {
    ...(inherit === undefined ? {} : { inherit }),
    ...(description === undefined ? {} : { description }),
    ...(guardrailsAdd === undefined ? {} : { guardrailsAdd }),
    ...(guardrailsRemove === undefined ? {} : { guardrailsRemove }),
    ...(input.condition === undefined ? {} : { condition: input.condition }),
    ...(input.pipeline === undefined ? {} : { pipeline: pipelineOf(input.pipeline) }),
  };
  return { id: params['id'] ?? '', patch };
}

function parseStatus({ body, params }: HttpRequest) {
  const { version_status: sent } = readStatus(parseObject(body));
  const status = VERSION_STATUSES.find((one) => one === sent);
  if (status === undefined)
    throw new InvalidInput(`Invalid status '${sent.slice(0, 80)}'. Must be one of: ${VERSION_STATUSES.join(', ')}`);
  return { id: params['id'] ?? '', status };
}

const idIn = ({ params }: HttpRequest): { readonly id: string } => ({ id: params['id'] ?? '' });
const nameIn = ({ params }: HttpRequest): { readonly name: string } => ({ name: params['name'] ?? '' });

const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;
const DELETE = { ...READ, method: 'DELETE' } as const;

/** Policies and their versions, and checks of policies. */
export const policyRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'policies.list',
    querySchema: readStatusFilter.schema,
    paths: ['/policies/list', '/policies'],
    statuses: [200, 401, 422],
    parse: ({ search }) => ({ status: readStatusFilter(search).version_status }),
    run: listPolicies,
    render: (policies) => json(renderPolicies(policies)),
  }),
  route({
    ...READ,
    name: 'policies.names',
    paths: ['/policy/list'],
    statuses: [200, 401],
    parse: () => ({ status: 'production' as const }),
    run: listPolicies,
    render: (policies) => json({ policies: [...new Set(policies.map(({ name }) => name))] }),
  }),
  route({
    ...READ,
    name: 'policies.templates',
    paths: ['/policy/templates'],
    statuses: [200, 401],
    parse: () => ({ status: null }),
    run: listPolicies,
    // The operation only checks the right of the caller. The server has no templates.
    render: () => json([]),
  }),
  route({
    ...READ,
    name: 'policies.info',
    paths: ['/policy/info/:name'],
    statuses: [200, 401, 404],
    parse: nameIn,
    run: getPolicyByName,
    render: ({ policy, guardrails }) => json({ ...renderPolicy(policy), resolved_guardrails: guardrails }),
  }),
  route({
    ...CHANGE,
    name: 'policies.check',
    bodySchema: readEntries.schema,
    paths: ['/policy/validate'],
    statuses: [200, 401, 422],
    parse: ({ body }) => ({ entries: readEntries(parseObject(body)).policies }),
    run: checkPolicies,
    render: (check) => json(renderCheck(check)),
  }),
  route({
    ...READ,
    name: 'policies.compare',
    querySchema: readVersions.schema,
    paths: ['/policies/compare'],
    statuses: [200, 401, 404, 422],
    parse({ search }) {
      const { version_a: firstId, version_b: secondId } = readVersions(search);
      return { firstId, secondId };
    },
    run: comparePolicies,
    render: (comparison) => json(renderComparison(comparison)),
  }),
  route({
    ...READ,
    name: 'policies.use',
    querySchema: readPeriod.schema,
    paths: ['/policies/usage/overview'],
    statuses: [200, 401],
    parse({ search }) {
      const { start_date: from, end_date: to } = readPeriod(search);
      return { from, to };
    },
    run: getPolicyUse,
    render: (report) => json(renderPolicyUse(report)),
  }),
  route({
    ...CHANGE,
    name: 'policies.create',
    bodySchema: readPolicy.schema,
    paths: ['/policies'],
    statuses: [200, 400, 401, 403, 422],
    parse: parseNew,
    run: createPolicy,
    render: (policy) => json(renderPolicy(policy)),
  }),
  route({
    ...READ,
    name: 'policies.versions',
    paths: ['/policies/name/:name/versions'],
    statuses: [200, 401],
    parse: nameIn,
    run: listPolicyVersions,
    render: (policies, request) => json(renderVersions(nameIn(request).name, policies)),
  }),
  route({
    ...CHANGE,
    name: 'policies.createVersion',
    bodySchema: readSource.schema,
    paths: ['/policies/name/:name/versions'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: (request) => ({ ...nameIn(request), sourceId: readSource(parseObject(request.body)).source_policy_id }),
    run: createPolicyVersion,
    render: (policy) => json(renderPolicy(policy)),
  }),
  route({
    ...DELETE,
    name: 'policies.deleteVersions',
    paths: ['/policies/name/:name/all-versions'],
    statuses: [200, 400, 401, 403, 404],
    parse: nameIn,
    run: deletePolicyVersions,
    render: (_removed, request) =>
      json({ message: `All versions of policy '${nameIn(request).name}' deleted successfully` }),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'policies.setStatus',
    bodySchema: readStatus.schema,
    paths: ['/policies/:id/status'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseStatus,
    run: setPolicyStatus,
    render: (policy) => json(renderPolicy(policy)),
  }),
  route({
    ...READ,
    name: 'policies.guardrails',
    paths: ['/policies/:id/resolved-guardrails'],
    statuses: [200, 400, 401, 404],
    parse: idIn,
    run: getPolicyGuardrails,
    render: ({ policy, guardrails }) =>
      json({ policy_id: policy.id, policy_name: policy.name, resolved_guardrails: guardrails }),
  }),
  route({
    ...READ,
    name: 'policies.get',
    paths: ['/policies/:id'],
    statuses: [200, 401, 404],
    parse: idIn,
    run: getPolicy,
    render: (policy) => json(renderPolicy(policy)),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'policies.update',
    bodySchema: readPatch.schema,
    paths: ['/policies/:id'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parsePatch,
    run: updatePolicy,
    render: (policy) => json(renderPolicy(policy)),
  }),
  route({
    ...DELETE,
    name: 'policies.delete',
    paths: ['/policies/:id'],
    statuses: [200, 400, 401, 403, 404],
    parse: idIn,
    run: deletePolicy,
    render: ({ id, status }) =>
      json({
        message: `Policy ${id} deleted successfully`,
        ...(status === 'production' ? { warning: NOT_PROMOTED } : {}),
      }),
  }),
];

const NOT_PROMOTED =
  'Production version was deleted. No other version was promoted. Promote another version to production if this policy should remain active.';
