import {
  type DeploymentGroup,
  listCallableModels,
  listDeployments,
  listProviders,
  type SeenDeployment,
} from '../resolvers/deployments.ts';
import { type Checked, probeDeployments } from '../resolvers/health-checks.ts';
import type { Probe } from '../src/domain/deployments/probe.ts';
import { type Health, HEALTH_STATES, jointHealth } from '../src/domain/deployments/health.ts';
import { LimitExceeded, NotFound } from '../src/domain/errors.ts';
import { builder } from './builder.ts';
import { CALL_COST, LIST_COST } from './limits.ts';
import { CatalogEntryType } from './refs.ts';

const HealthStateType = builder.enumType('HealthState', {
  description: 'How calls have gone lately: of the last twenty that ended within five minutes, in this process.',
  values: {
    HEALTHY: { value: HEALTH_STATES[0], description: 'Fewer than a tenth failed.' },
    DEGRADED: { value: HEALTH_STATES[1], description: 'A tenth or more failed; or of several, they are not alike.' },
    FAILING: { value: HEALTH_STATES[2], description: 'Half or more failed.' },
    UNKNOWN: { value: HEALTH_STATES[3], description: 'There were none.' },
  } as const,
});

const FailureType = builder.objectRef<NonNullable<Health['lastFailure']>>('DeploymentFailure').implement({
  description: 'A call that failed through no fault of its caller.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it ended.' }),
    code: t.exposeString('code', { description: 'The HTTP status it was answered with, `TIMEOUT` or `NO_ANSWER`.' }),
  }),
});

const HealthType = builder.objectRef<Health>('DeploymentHealth').implement({
  description:
    'How calls have gone in this process, since it started. A call that its caller spoiled or left before an answer is not counted.',
  fields: (t) => ({
    state: t.expose('state', { type: HealthStateType, description: 'How they have gone lately.' }),
    calls: t.exposeInt('calls', { description: 'How many have ended.' }),
    failures: t.exposeInt('failures', { description: 'How many of them failed.' }),
    inFlight: t.exposeInt('inFlight', { description: 'How many are under way; a realtime session is one.' }),
    latencyMs: t.exposeFloat('latencyMs', {
      nullable: true,
      description: 'Milliseconds to the head of an answer, the latest weighing most; null before the first.',
    }),
    lastSuccessAt: t.expose('lastSuccessAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last that went well ended.',
    }),
    lastFailure: t.expose('lastFailure', { type: FailureType, nullable: true, description: 'The last that failed.' }),
  }),
});

const ProbeType = builder.objectRef<Probe>('DeploymentProbe').implement({
  description: 'How a deployment answered when it was asked whether it does.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it was asked.' }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'Milliseconds to the end of its answer.' }),
    error: t.string({
      nullable: true,
      description: 'Why it did not answer; null where it did.',
      resolve: ({ failure }) => failure?.message ?? null,
    }),
  }),
});

const DeploymentType = builder.objectRef<SeenDeployment>('Deployment').implement({
  description: 'One configured way to reach a model.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its name in the configuration, or one made from its place there.' }),
    model: t.exposeString('modelGroup', { description: 'The public name it answers to.' }),
    provider: t.exposeString('provider', { description: 'Who speaks for it.' }),
    upstreamModel: t.exposeString('upstreamModel', { description: 'What its upstream calls the model.' }),
    apiBase: t.exposeString('apiBase', {
      nullable: true,
      description: "Its address, for administrators only; null too where it is the provider's own.",
    }),
    catalogEntry: t.expose('entry', {
      type: CatalogEntryType,
      nullable: true,
      description: 'The entry of the catalog by which its calls are billed, where the configuration sets no price.',
    }),
    health: t.expose('health', { type: HealthType, description: 'How calls to it have gone.' }),
    lastProbe: t.expose('lastProbe', {
      type: ProbeType,
      nullable: true,
      description: 'How it answered when it was last asked whether it does; null where it was not, in this process.',
    }),
  }),
});

const healthOf = ({ deployments }: DeploymentGroup): Health => jointHealth(deployments.map(({ health }) => health));

const ProviderType = builder.objectRef<DeploymentGroup>('Provider').implement({
  description: 'A vendor that deployments are reached through.',
  fields: (t) => ({
    name: t.exposeID('name', { description: 'Its name in the configuration: `openai`.' }),
    health: t.field({
      type: HealthType,
      description: 'How calls to all of its deployments have gone.',
      resolve: healthOf,
    }),
    deployments: t.field({
      type: [DeploymentType],
      description: 'Those of its deployments that the caller may see.',
      complexity: { field: 1, multiplier: LIST_COST },
      resolve: ({ deployments }) => [...deployments],
    }),
  }),
});

const CallableModelType = builder.objectRef<DeploymentGroup>('CallableModel').implement({
  description: 'A public model name, and the deployments that answer to it.',
  fields: (t) => ({
    name: t.exposeID('name', { description: 'What callers ask for; one that ends in `*` stands for many.' }),
    catalogEntry: t.field({
      type: CatalogEntryType,
      nullable: true,
      description: 'The entry of the catalog for its first deployment that has one.',
      resolve: ({ deployments }) => deployments.find(({ entry }) => entry !== null)?.entry ?? null,
    }),
    health: t.field({ type: HealthType, description: 'How calls of it have gone.', resolve: healthOf }),
    deployments: t.field({
      type: [DeploymentType],
      description: 'What answers to it.',
      complexity: { field: 1, multiplier: LIST_COST },
      resolve: ({ deployments }) => [...deployments],
    }),
  }),
});

const CheckedType = builder.objectRef<Checked>('CheckedDeployment').implement({
  description: 'A deployment that was to be asked whether it answers.',
  fields: (t) => ({
    deployment: t.expose('deployment', { type: DeploymentType, description: 'Which, and how it answered.' }),
    notAsked: t.string({
      nullable: true,
      description: 'Why it was not asked; null where it was.',
      resolve: ({ found }) => (typeof found === 'string' ? found : null),
    }),
  }),
});

const ProbedType = builder.objectRef<readonly Checked[]>('ProbedDeployments').implement({
  description: 'How deployments answered.',
  fields: (t) => ({
    checked: t.field({
      type: [CheckedType],
      description: 'Each of them, in the order of the configuration.',
      complexity: { field: 1, multiplier: LIST_COST },
      resolve: (checked) => [...checked],
    }),
  }),
});

builder.mutationField('probeDeployments', (t) =>
  t.field({
    type: ProbedType,
    description:
      'Asks deployments whether they answer, each with a call of a few tokens that is billed to the key: all that the caller may see, unless some are named.',
    complexity: { field: CALL_COST, multiplier: 1 },
    errors: {
      types: [NotFound, LimitExceeded],
      union: { name: 'ProbeDeploymentsResult', description: 'How they answered, or why they were not asked.' },
    },
    args: {
      model: t.arg.string({ description: 'Only those that answer to this name, public or of the upstream.' }),
      id: t.arg.id({ description: 'Only this one.' }),
    },
    resolve: (_root, { model, id }, { scope }) =>
      probeDeployments(scope, { model: model ?? null, deploymentId: id ?? null }),
  }),
);

builder.queryFields((t) => ({
  deployments: t.field({
    type: [DeploymentType],
    description: 'The configured deployments, in their order: all for administrators, else those the key may call.',
    args: { model: t.arg.string({ description: 'Only those that answer to this public name.' }) },
    complexity: { field: 1, multiplier: LIST_COST },
    resolve: (_root, { model }, { scope }) => [...listDeployments(scope, { model: model ?? null })],
  }),
  providers: t.field({
    type: [ProviderType],
    description: 'The providers of the deployments that the caller may see.',
    complexity: { field: 1, multiplier: LIST_COST },
    resolve: (_root, _args, { scope }) => [...listProviders(scope, undefined)],
  }),
  callableModels: t.field({
    type: [CallableModelType],
    description: 'The public model names that the key may call, in the order of the configuration.',
    complexity: { field: 1, multiplier: LIST_COST },
    resolve: (_root, _args, { scope }) => [...listCallableModels(scope, undefined)],
  }),
}));
