import { type TestedConnection, testConnection } from '../resolvers/connection-tests.ts';
import {
  createDeployment,
  deleteDeployment,
  findStoredDeployment,
  listBrokenDeployments,
  listStoredDeployments,
  patchDeployment,
} from '../resolvers/deployment-changes.ts';
import type { BrokenDeployment } from '../src/domain/deployments/deployment-source.ts';
import { maskedParameters } from '../src/domain/deployments/parameters.ts';
import type { StoredDeployment } from '../src/domain/deployments/stored-deployment.ts';
import { Conflict, InvalidInput, LimitExceeded, NotFound, Unsupported } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { CALL_COST, LIST_LENGTH } from './base/limits.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { inOrder, matchesValue, rowOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'StoredDeployment';
const ID = 'The deployment: global id or `deploymentId`.';
const PARAMS = 'Parameters as in `litellm_params` of the configuration, e.g. `model` and `api_key`.';
const INFO = 'Facts about the model as in `model_info` of the configuration. `team_id` makes it a model of that team.';
const EFFECT_AND_ACCESS = `${TAKES_EFFECT} Administrators of a team manage deployments with the \`team_id\` of their team, if an administrator of the team created them.`;

const StoredDeploymentType = builder.objectRef<StoredDeployment>(TYPE);

builder.node(StoredDeploymentType, {
  description: 'A deployment that was created at run time. `deployments` has its health while it can be called.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findStoredDeployment(scope, { id })),
  fields: (t) => ({
    deploymentId: t.exposeID('id', { description: 'Its id.' }),
    model: t.exposeString('modelGroup', { description: 'Public model name that it serves.' }),
    params: t.field({ type: 'JSON', description: 'Its parameters. Secrets are masked.', resolve: maskedParameters }),
    info: t.field({ type: 'JSON', description: 'Facts about its model, without prices.', resolve: ({ info }) => info }),
    blocked: t.exposeBoolean('blocked', { description: 'Whether calls to it are refused.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    createdBy: t.exposeID('createdBy', { description: 'User or key hash that created it.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updatedBy: t.exposeID('updatedBy', { description: 'User or key hash that changed it last.' }),
  }),
});

const BrokenType = builder.objectRef<BrokenDeployment>('MisconfiguredDeployment').implement({
  description: 'A deployment that cannot be called.',
  fields: (t) => ({
    deploymentId: t.exposeID('id', { description: 'Its id.' }),
    model: t.exposeString('modelGroup', { description: 'Public model name that it would serve.' }),
    fault: t.exposeString('fault', { description: 'Why it cannot be called.' }),
    isStored: t.boolean({
      description: 'Whether it was created at run time. False for a deployment of the configuration.',
      resolve: ({ stored }) => stored !== null,
    }),
  }),
});

const StoredFilterType = builder.inputType('StoredDeploymentFilter', {
  description: 'Filter of stored deployments. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    model: t.string({ description: 'Exact public model name.' }),
    blocked: t.boolean({ description: 'Whether calls to it are refused.' }),
  }),
});

const StoredOrderType = rowOrder('StoredDeployment', 'stored deployments', {
  MODEL: { value: 'model', description: 'Public model name.' },
});

const idOf = ({ id }: StoredDeployment) => id;

builder.queryField('storedDeployments', (t) =>
  t.connection(
    {
      type: StoredDeploymentType,
      description:
        'Deployments that were created at run time, the oldest first by default. For proxy administrators with full or read-only access.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: StoredFilterType, description: 'All stored deployments when absent.' }),
        orderBy: t.arg({ type: StoredOrderType, description: 'The oldest first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = (await listStoredDeployments(scope, undefined)).filter(
          ({ modelGroup, blocked }) =>
            matchesValue(modelGroup, filter?.model) && matchesValue(blocked, filter?.blocked),
        );
        const values = {
          created_at: (row: StoredDeployment) => row.createdAt.getTime(),
          model: (row: StoredDeployment) => row.modelGroup,
        };
        return pageOf(inOrder(found, orderBy, values, idOf), args, idOf);
      },
    },
    {
      ...pageType('StoredDeployment', 'stored deployments'),
      fields: (pageFields) => totalCount(pageFields, 'stored deployments'),
    },
    edgeType('StoredDeployment', 'stored deployment'),
  ),
);

builder.queryField('misconfiguredDeployments', (t) =>
  t.field({
    type: [BrokenType],
    nullable: true,
    description:
      'Deployments that cannot be called, with the reason. For proxy administrators with full or read-only access.',
    complexity: { field: 1, multiplier: LIST_LENGTH },
    resolve: (_root, _args, { scope }) => [...listBrokenDeployments(scope, undefined)],
  }),
);

const CreateInput = builder.inputType('CreateDeploymentInput', {
  description: 'A deployment to store.',
  fields: (t) => ({
    deploymentId: t.id({ description: 'Id to use; generated when absent.' }),
    model: t.string({ required: true, description: 'Public model name.' }),
    params: t.field({ type: 'JSON', required: true, description: PARAMS }),
    info: t.field({ type: 'JSON', description: INFO }),
  }),
});

const UpdateInput = builder.inputType('UpdateDeploymentInput', {
  description: 'Changes to a stored deployment. Absent fields stay as they are; null in an object removes its member.',
  fields: (t) => ({
    deploymentId: t.id({ required: true, description: ID }),
    model: t.string({ description: 'New public model name; null changes nothing.' }),
    params: t.field({ type: 'JSON', description: PARAMS }),
    info: t.field({ type: 'JSON', description: INFO }),
    blocked: t.boolean({ description: 'Whether calls to it are refused; null changes nothing.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteDeploymentInput', {
  description: 'The deployment to delete.',
  fields: (t) => ({ deploymentId: t.id({ required: true, description: ID }) }),
});

builder.mutationFields((t) => ({
  createDeployment: t.field({
    type: StoredDeploymentType,
    description: `Stores a deployment. ${EFFECT_AND_ACCESS}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The deployment.' }) },
    errors: {
      types: [InvalidInput, Conflict, Unsupported],
      union: { name: 'CreateDeploymentResult', description: 'The deployment, or why it was not stored.' },
    },
    resolve: (_root, { input: { deploymentId, model, params, info } }, { scope }) =>
      createDeployment(scope, {
        id: deploymentId ?? null,
        modelGroup: model,
        params: readObject(params, 'params'),
        info: readObject(info, 'info'),
      }),
  }),
  updateDeployment: t.field({
    type: StoredDeploymentType,
    description: `Changes, blocks or unblocks a stored deployment. ${EFFECT_AND_ACCESS}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The deployment and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateDeploymentResult', description: 'The changed deployment, or why it was not changed.' },
    },
    resolve: (_root, { input: { deploymentId, model, params, info, blocked } }, { scope }) =>
      patchDeployment(scope, {
        id: localId(TYPE, deploymentId),
        params: readObject(params, 'params'),
        info: readObject(info, 'info'),
        ...(typeof model === 'string' ? { modelGroup: model } : {}),
        ...(typeof blocked === 'boolean' ? { blocked } : {}),
      }),
  }),
  deleteDeployment: t.field({
    type: StoredDeploymentType,
    description: `Deletes a stored deployment. ${EFFECT_AND_ACCESS}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The deployment.' }) },
    errors: {
      types: [NotFound, Unsupported],
      union: { name: 'DeleteDeploymentResult', description: 'The deleted deployment, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deleteDeployment(scope, { id: localId(TYPE, input.deploymentId) }),
  }),
}));

// When no call was made, `probe` is the reason as a text.
const TestedType = builder.objectRef<TestedConnection>('TestedConnection').implement({
  description: 'Result of one small call with the parameters of a model.',
  fields: (t) => ({
    error: t.string({
      nullable: true,
      description: 'Why it failed; null after a success.',
      resolve: ({ probe }) => (typeof probe === 'string' ? probe : (probe.failure?.message ?? null)),
    }),
    latencyMs: t.float({
      nullable: true,
      description: 'Time to the end of the answer, in milliseconds. Null where no call was made.',
      resolve: ({ probe }) => (typeof probe === 'string' ? null : probe.latencyMs),
    }),
  }),
});

const TestInput = builder.inputType('TestConnectionInput', {
  description: 'Parameters of a model. Nothing is stored.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'Model with its provider, e.g. `openai/gpt-4o`.' }),
    params: t.field({ type: 'JSON', description: PARAMS }),
    info: t.field({ type: 'JSON', description: `${INFO} \`mode\` selects the endpoint.` }),
  }),
});

builder.mutationField('testConnection', (t) =>
  t.field({
    type: TestedType,
    description:
      'Tests the parameters of a model with a call of a few tokens, billed to the key. For proxy administrators.',
    complexity: CALL_COST,
    args: { input: t.arg({ type: TestInput, required: true, description: 'The parameters.' }) },
    errors: {
      types: [InvalidInput, LimitExceeded],
      union: { name: 'TestConnectionResult', description: 'The result, or why no call was made.' },
    },
    resolve: (_root, { input: { model, params, info } }, { scope }) =>
      testConnection(scope, { model, params: readObject(params, 'params'), info: readObject(info, 'info') }),
  }),
);
