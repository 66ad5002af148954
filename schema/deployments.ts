import {
  type DeploymentGroup,
  listCallableModels,
  listDeployments,
  listProviders,
  listTeamDeployments,
} from '../resolvers/deployments.ts';
import { type CheckedDeployment, probeDeployments } from '../resolvers/health-checks.ts';
import type { Probe } from '../src/domain/deployments/probe.ts';
import { type Health, jointHealth } from '../src/domain/deployments/health.ts';
import { LimitExceeded, NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { VisibleDeployment } from '../resolvers/operation/visible-deployments.ts';
import { builder } from './base/builder.ts';
import { matchesValue } from './base/order.ts';
import { localId } from './base/global-id.ts';
import { CALL_COST, LIST_LENGTH } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { CatalogEntryType, TeamType } from './base/refs.ts';

const HealthStateType = builder.enumType('HealthState', {
  description: 'Health by the last 20 calls of this process. Calls that ended more than five minutes ago are left out.',
  values: {
    HEALTHY: { value: 'healthy', description: 'Less than 10% failed.' },
    DEGRADED: {
      value: 'degraded',
      description: '10% or more failed, or the states of several deployments differ.',
    },
    FAILING: { value: 'failing', description: '50% or more failed.' },
    UNKNOWN: { value: 'unknown', description: 'No calls.' },
  } as const,
});

const FailureType = builder.objectRef<NonNullable<Health['lastFailure']>>('DeploymentFailure').implement({
  description: 'A failed call. Failures that the caller caused do not count.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the call ended.' }),
    code: t.exposeString('code', { description: 'HTTP status of the answer, `TIMEOUT` or `NO_ANSWER`.' }),
  }),
});

const HealthType = builder.objectRef<Health>('DeploymentHealth').implement({
  description:
    'Call counts since this process started. Calls that failed because of the caller, and calls that the caller ' +
    'cancelled before an answer, do not count.',
  fields: (t) => ({
    state: t.expose('state', { type: HealthStateType, description: 'Recent health.' }),
    calls: t.exposeInt('calls', { description: 'Number of ended calls.' }),
    failures: t.exposeInt('failures', { description: 'Number of failed calls.' }),
    inFlight: t.exposeInt('inFlight', {
      description: 'Number of calls in progress. A realtime session counts as one call.',
    }),
    latencyMs: t.exposeFloat('latencyMs', {
      nullable: true,
      description: 'Moving average of the time to the response head, in milliseconds. Null before the first answer.',
    }),
    lastSuccessAt: t.expose('lastSuccessAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last successful call ended. Null before the first.',
    }),
    lastFailure: t.expose('lastFailure', {
      type: FailureType,
      nullable: true,
      description: 'The last failed call. Null before the first.',
    }),
  }),
});

const ProbeType = builder.objectRef<Probe>('DeploymentProbe').implement({
  description: 'Result of a health check: a call of a few tokens.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the check was made.' }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'Time to the end of the answer, in milliseconds.' }),
    error: t.string({
      nullable: true,
      description: 'Why the check failed; null after a success.',
      resolve: ({ failure }) => failure?.message ?? null,
    }),
  }),
});

const DeploymentType = builder.objectRef<VisibleDeployment>('Deployment');

builder.node(DeploymentType, {
  description: 'A configured upstream for a model.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf(
    (id, { scope }) => listDeployments(scope, { model: null }).find((deployment) => deployment.id === id) ?? null,
  ),
  fields: (t) => ({
    deploymentId: t.exposeID('id', {
      description:
        'Id in the configuration, otherwise generated from model, provider and address. For a stored deployment: its own id.',
    }),
    model: t.exposeString('modelGroup', { description: 'Public model name that the deployment serves.' }),
    teamId: t.exposeID('teamId', {
      nullable: true,
      description:
        'The only team whose keys may call it (`model_info.team_id`). Null for a model of all teams and keys.',
    }),
    provider: t.exposeString('provider', { description: 'Provider, e.g. `openai`.' }),
    upstreamModel: t.exposeString('upstreamModel', { description: 'Model name sent to the upstream.' }),
    apiBase: t.exposeString('apiBase', {
      nullable: true,
      description: "Base address. Null for callers who are not administrators, and for the provider's default address.",
    }),
    catalogEntry: t.expose('entry', {
      type: CatalogEntryType,
      nullable: true,
      description:
        'Catalog entry with the prices of its calls. Null when none is known. Configured prices override those of the entry.',
    }),
    fault: t.exposeString('fault', {
      nullable: true,
      description:
        'Why it cannot be called, e.g. no key or an unknown provider; a general text for callers who are not administrators. Null where it can be called.',
    }),
    warning: t.exposeString('warning', {
      nullable: true,
      description:
        'Warning about its prices, such as an input price without an output price. Null for none, and for callers who are not administrators.',
    }),
    health: t.expose('health', { type: HealthType, description: 'Health of its calls in this process.' }),
    accessGroups: t.stringList({
      description: 'Access groups of models that contain it. A key with one of them in its `models` may call it.',
      resolve: ({ accessGroups }) => [...accessGroups],
    }),
    cooldownMs: t.exposeFloat('cooldownMs', {
      description:
        'Milliseconds until this process sends calls to it again after failures. 0 when it does not cool down.',
    }),
    lastProbe: t.expose('lastProbe', {
      type: ProbeType,
      nullable: true,
      description: 'Last health check by this process. Null before the first.',
    }),
  }),
});

const healthOf = ({ deployments }: DeploymentGroup): Health => jointHealth(deployments.map(({ health }) => health));

const ProviderType = builder.objectRef<DeploymentGroup>('Provider');

builder.node(ProviderType, {
  description: 'A provider with at least one deployment.',
  id: { resolve: ({ name }) => name },
  loadMany: nodesOf(
    (name, { scope }) => listProviders(scope, undefined).find((provider) => provider.name === name) ?? null,
  ),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name in the configuration, e.g. `openai`.' }),
    health: t.field({
      type: HealthType,
      description: 'Joint health of its deployments that the caller may read.',
      resolve: healthOf,
    }),
    deployments: t.field({
      type: [DeploymentType],
      description: 'Its deployments that the caller may read.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ deployments }) => [...deployments],
    }),
  }),
});

const CallableModelType = builder.objectRef<DeploymentGroup>('CallableModel');

builder.node(CallableModelType, {
  description: 'A public model name and its deployments.',
  id: { resolve: ({ name }) => name },
  loadMany: nodesOf(
    (name, { scope }) => listCallableModels(scope, undefined).find((model) => model.name === name) ?? null,
  ),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name to call. `*` at its end is a wildcard.' }),
    catalogEntry: t.field({
      type: CatalogEntryType,
      nullable: true,
      description: 'Catalog entry of its first deployment that has one. Null when none has one.',
      resolve: ({ deployments }) => deployments.find(({ entry }) => entry !== null)?.entry ?? null,
    }),
    health: t.field({ type: HealthType, description: 'Joint health of its deployments.', resolve: healthOf }),
    deployments: t.field({
      type: [DeploymentType],
      description: 'Its deployments.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ deployments }) => [...deployments],
    }),
  }),
});

// When the deployment was not checked, `probe` is the reason as a text.
const CheckedType = builder.objectRef<CheckedDeployment>('CheckedDeployment').implement({
  description: 'A deployment of a health check.',
  fields: (t) => ({
    deployment: t.expose('deployment', {
      type: DeploymentType,
      description: 'The deployment. `lastProbe` has the result.',
    }),
    skippedReason: t.string({
      nullable: true,
      description: 'Why the deployment was not checked; null when it was.',
      resolve: ({ probe }) => (typeof probe === 'string' ? probe : null),
    }),
  }),
});

const ProbedType = builder.objectRef<readonly CheckedDeployment[]>('ProbedDeployments').implement({
  description: 'Results of a health check.',
  fields: (t) => ({
    checked: t.field({
      type: [CheckedType],
      description: 'Deployments that match, skipped ones included, in the order of `deployments`.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: (checked) => [...checked],
    }),
  }),
});

const ProbeInput = builder.inputType('ProbeDeploymentsInput', {
  description: 'Deployments to check; all that the caller may read when empty.',
  fields: (t) => ({
    deploymentId: t.id({ description: 'Global id or `deploymentId` of one deployment.' }),
    model: t.string({ description: 'Public or upstream model name.' }),
  }),
});

builder.mutationField('probeDeployments', (t) =>
  t.field({
    type: ProbedType,
    description: 'Checks deployments with a call of a few tokens each. The calls are billed to the key.',
    complexity: { field: CALL_COST, multiplier: 1 },
    errors: {
      types: [NotFound, LimitExceeded],
      union: { name: 'ProbeDeploymentsResult', description: 'The results, or why no check was made.' },
    },
    args: { input: t.arg({ type: ProbeInput, required: true, description: 'The deployments.' }) },
    resolve: (_root, { input: { model, deploymentId } }, { scope }) =>
      probeDeployments(scope, {
        model: model ?? null,
        deploymentId: typeof deploymentId === 'string' ? localId('Deployment', deploymentId) : null,
      }),
  }),
);

builder.objectFields(TeamType, (t) => ({
  deployments: t.field({
    type: [DeploymentType],
    nullable: true,
    description:
      'Deployments with the `team_id` of the team. Administrators see all of them. Other callers see those that their key may call. Null for a team that the caller may not read.',
    complexity: { field: 1, multiplier: LIST_LENGTH },
    resolve: async ({ id }, _args, { scope }) => [...(await listTeamDeployments(scope, { teamId: id }))],
  }),
}));

const DeploymentFilterType = builder.inputType('DeploymentFilter', {
  description: 'Filter of deployments. All conditions must match.',
  fields: (t) => ({
    model: t.string({ description: 'Exact public model name.' }),
    provider: t.string({ description: 'Exact provider.' }),
  }),
});

builder.queryFields((t) => ({
  deployments: t.field({
    type: [DeploymentType],
    description:
      'Deployments in the order of the configuration, then stored ones, the oldest first. Administrators see all of them. Other callers see those that their key may call. Blocked deployments are left out.',
    args: { filter: t.arg({ type: DeploymentFilterType, description: 'All deployments when absent.' }) },
    complexity: { field: 1, multiplier: LIST_LENGTH },
    resolve: (_root, { filter }, { scope }) =>
      listDeployments(scope, { model: nullIfBlank(filter?.model) }).filter(({ provider }) =>
        matchesValue(provider, filter?.provider),
      ),
  }),
  providers: t.field({
    type: [ProviderType],
    description: 'Providers of the deployments that the caller may read.',
    complexity: { field: 1, multiplier: LIST_LENGTH },
    resolve: (_root, _args, { scope }) => [...listProviders(scope, undefined)],
  }),
  callableModels: t.field({
    type: [CallableModelType],
    description: 'Public model names that the key may call, in the order of `deployments`.',
    complexity: { field: 1, multiplier: LIST_LENGTH },
    resolve: (_root, _args, { scope }) => [...listCallableModels(scope, undefined)],
  }),
}));
