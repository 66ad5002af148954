import {
  createPolicy,
  createPolicyVersion,
  deletePolicy,
  getPolicy,
  listPolicies,
  setPolicyStatus,
  updatePolicy,
} from '../resolvers/policies.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { pipelineOf } from '../src/domain/policies/pipeline.ts';
import type { PolicyPatch, ShownPolicy } from '../src/domain/policies/policy.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'Policy';
const POLICY_ID = 'The version of the policy: global id or `policyId`.';
const INHERIT = 'Name of the policy from which this policy inherits guardrails.';
const ADD = 'Names of the guardrails that the policy selects.';
const REMOVE = 'Names of the inherited guardrails that the policy leaves out.';
const CONDITION =
  'Models to which the policy applies: an object with `model`. The member `model` is a name, an RE2 expression, or a list of names and expressions.';
const PIPELINE =
  'Guardrails of the policy that run one after another: an object with `mode` and `steps`, as in the HTTP API.';
const PURPOSE = 'What the policy is for.';

const StatusType = builder.enumType('PolicyVersionStatus', {
  description: 'State of a version of a policy.',
  values: {
    DRAFT: { value: 'draft', description: 'The version can be changed. The next state is `PUBLISHED`.' },
    PUBLISHED: { value: 'published', description: 'The version can no longer be changed. It can be put in force.' },
    PRODUCTION: {
      value: 'production',
      description: 'The version is in force. A policy has at most one such version. The next state is `PUBLISHED`.',
    },
  } as const,
});

const PolicyType = builder.objectRef<ShownPolicy>(TYPE);

builder.node(PolicyType, {
  description: 'One version of a policy: a named selection of guardrails.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getPolicy(scope, { id })),
  fields: (t) => ({
    policyId: t.exposeString('id', { description: 'Local id of the version, as in the HTTP API.' }),
    name: t.exposeString('name', { description: 'Name of the policy, the same for all versions.' }),
    version: t.exposeInt('version', { description: 'Number of the version, from 1.' }),
    isLatest: t.exposeBoolean('isLatest', { description: 'Whether no version has a higher number.' }),
    status: t.field({ type: StatusType, description: 'State of the version.', resolve: ({ status }) => status }),
    parentId: t.string({
      nullable: true,
      description: 'Local id of the version that this version was copied from. Null for the first version.',
      resolve: ({ parentId }) => parentId,
    }),
    description: t.string({
      nullable: true,
      description: `${PURPOSE} Null without a description.`,
      resolve: ({ description }) => description,
    }),
    inherit: t.string({ nullable: true, description: `${INHERIT} Null for none.`, resolve: ({ inherit }) => inherit }),
    guardrailsAdd: t.stringList({ description: ADD, resolve: ({ guardrailsAdd }) => [...guardrailsAdd] }),
    guardrailsRemove: t.stringList({ description: REMOVE, resolve: ({ guardrailsRemove }) => [...guardrailsRemove] }),
    condition: t.field({
      type: 'JSON',
      nullable: true,
      description: `${CONDITION} Null: all models.`,
      resolve: ({ condition }) => condition,
    }),
    pipeline: t.field({
      type: 'JSON',
      nullable: true,
      description: `${PIPELINE} Null for none.`,
      resolve: ({ pipeline }) => pipeline as JsonObject | null,
    }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
    publishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the draft was published. Null for a draft, and for a version that was created in force.',
      resolve: ({ publishedAt }) => publishedAt,
    }),
    productionAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the version last came into force. Null when it has never been in force.',
      resolve: ({ productionAt }) => productionAt,
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the version was created. Null for a policy of the configuration file.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the version was last changed. Null for a policy of the configuration file.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const FilterType = builder.inputType('PolicyFilter', {
  description: 'Filter of versions of policies. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
    status: t.field({ type: StatusType, description: 'Exact state.' }),
  }),
});

const OrderType = valueOrder('Policy', 'versions of policies', {
  NAME: { value: 'name', description: 'Name.' },
  VERSION: { value: 'version', description: 'Number of the version.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When the version was created; policies of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  name: (row: ShownPolicy) => row.name,
  version: (row: ShownPolicy) => row.version,
  created_at: (row: ShownPolicy) => row.createdAt?.getTime() ?? 0,
};

const idOf = ({ id }: ShownPolicy) => id;

builder.queryField('policies', (t) =>
  t.connection(
    {
      type: PolicyType,
      description:
        'Versions of policies, by default those of the configuration file first. For proxy administrators with full or read-only access.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All versions when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'The order of creation when absent.' }),
      },
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listPolicies(scope, { status: null }).filter(
          (row) => containsText(row.name, filter?.name) && matchesValue(row.status, filter?.status),
        );
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    {
      ...pageType('Policy', 'versions of policies'),
      fields: (pageFields) => totalCount(pageFields, 'versions of policies'),
    },
    edgeType('Policy', 'version of a policy'),
  ),
);

const CreateInput = builder.inputType('CreatePolicyInput', {
  description: 'A policy to create. Its first version is in force immediately.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the policy. Unique.' }),
    description: t.string({ description: PURPOSE }),
    inherit: t.string({ description: INHERIT }),
    guardrailsAdd: t.stringList({ description: ADD }),
    guardrailsRemove: t.stringList({ description: REMOVE }),
    condition: t.field({ type: 'JSON', description: CONDITION }),
    pipeline: t.field({ type: 'JSON', description: PIPELINE }),
  }),
});

const VersionInput = builder.inputType('CreatePolicyVersionInput', {
  description: 'A draft to create as a copy of a version.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the policy.' }),
    source: t.id({ description: 'The version to copy: global id or `policyId`. The version in force when absent.' }),
  }),
});

const UpdateInput = builder.inputType('UpdatePolicyInput', {
  description: 'Changes to a draft. Absent members stay as they are.',
  fields: (t) => ({
    policy: t.id({ required: true, description: POLICY_ID }),
    description: t.string({ description: `${PURPOSE} Null removes the description.` }),
    inherit: t.string({ description: `${INHERIT} Null ends the inheritance.` }),
    guardrailsAdd: t.stringList({ description: `${ADD} Null removes all.` }),
    guardrailsRemove: t.stringList({ description: `${REMOVE} Null removes all.` }),
    condition: t.field({ type: 'JSON', description: `${CONDITION} Null applies the policy to all models.` }),
    pipeline: t.field({ type: 'JSON', description: `${PIPELINE} Null removes the pipeline.` }),
  }),
});

const StatusInput = builder.inputType('SetPolicyStatusInput', {
  description: 'A new state of a version.',
  fields: (t) => ({
    policy: t.id({ required: true, description: POLICY_ID }),
    status: t.field({
      type: StatusType,
      required: true,
      description: 'The new state. A state that cannot follow the present one is refused.',
    }),
  }),
});

const DeleteInput = builder.inputType('DeletePolicyInput', {
  description: 'The version to delete. No other version comes into force instead.',
  fields: (t) => ({ policy: t.id({ required: true, description: POLICY_ID }) }),
});

const objectOrNull = (input: unknown, member: string): JsonObject | null =>
  input === null || input === undefined ? null : readObject(input, member);

function patchOf(input: typeof UpdateInput.$inferInput): PolicyPatch {
  const { description, inherit, guardrailsAdd, guardrailsRemove, condition, pipeline } = input;
  return {
    ...(description === undefined ? {} : { description }),
    ...(inherit === undefined ? {} : { inherit }),
    ...(guardrailsAdd === undefined ? {} : { guardrailsAdd: guardrailsAdd ?? [] }),
    ...(guardrailsRemove === undefined ? {} : { guardrailsRemove: guardrailsRemove ?? [] }),
    ...(condition === undefined ? {} : { condition: objectOrNull(condition, 'condition') }),
    ...(pipeline === undefined ? {} : { pipeline: pipelineOf(objectOrNull(pipeline, 'pipeline')) }),
  };
}

builder.mutationFields((t) => ({
  createPolicy: t.field({
    type: PolicyType,
    description: `Creates a policy. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The policy.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreatePolicyResult', description: 'The policy, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) =>
      createPolicy(scope, {
        name: input.name,
        description: input.description ?? null,
        inherit: input.inherit ?? null,
        guardrailsAdd: input.guardrailsAdd ?? [],
        guardrailsRemove: input.guardrailsRemove ?? [],
        condition: objectOrNull(input.condition, 'condition'),
        pipeline: pipelineOf(objectOrNull(input.pipeline, 'pipeline')),
      }),
  }),
  createPolicyVersion: t.field({
    type: PolicyType,
    description: 'Copies a version of a policy as a new draft. For proxy administrators.',
    args: { input: t.arg({ type: VersionInput, required: true, description: 'The policy and the version to copy.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'CreatePolicyVersionResult', description: 'The draft, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) =>
      createPolicyVersion(scope, { name: input.name, sourceId: localId(TYPE, input.source ?? null) }),
  }),
  updatePolicy: t.field({
    type: PolicyType,
    description: 'Changes a draft of a policy. For proxy administrators.',
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The draft and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdatePolicyResult', description: 'The changed draft, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      updatePolicy(scope, { id: localId(TYPE, input.policy), patch: patchOf(input) }),
  }),
  setPolicyStatus: t.field({
    type: PolicyType,
    description: `Publishes a draft, or changes whether a published version is in force. A version that comes into force replaces the version that was in force. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: StatusInput, required: true, description: 'The version and its state.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'SetPolicyStatusResult', description: 'The changed version, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      setPolicyStatus(scope, { id: localId(TYPE, input.policy), status: input.status }),
  }),
  deletePolicy: t.field({
    type: PolicyType,
    description: `Deletes a version of a policy. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The version.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'DeletePolicyResult', description: 'The deleted version, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deletePolicy(scope, { id: localId(TYPE, input.policy) }),
  }),
}));
