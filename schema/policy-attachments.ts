import {
  createPolicyAttachment,
  deletePolicyAttachment,
  estimateAttachmentImpact,
  getPolicyAttachment,
  listPolicyAttachments,
} from '../resolvers/policy-attachments.ts';
import { listMatchingPolicies } from '../resolvers/policies.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { AttachmentRules, PolicyAttachment } from '../src/domain/policies/attachment.ts';
import type { AffectedRows, AttachmentImpact } from '../src/domain/policies/attachment-impact.ts';
import type { MatchedPolicy } from '../src/domain/policies/policy-book.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { nodesOf } from './base/node-loading.ts';
import { inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'PolicyAttachment';
const SCOPE = '`*` applies the policy to every call.';
const PATTERN = 'An entry that ends with `*` matches every text that begins with the part before `*`.';
const TEAMS = `Aliases or ids of teams, of which a call must match one. ${PATTERN}`;
const KEYS = `Aliases of keys, of which a call must match one. ${PATTERN}`;
const MODELS = `Names of models, of which a call must match one. ${PATTERN}`;
const TAGS = `Tags, of which a call must match one. ${PATTERN}`;
const PRIORITY =
  'Order of the policies of a call: the lowest number is first, and attachments without a priority are last.';
const DEFAULT =
  'Whether the attachment is a default. Defaults apply only to a call that gets no policy from the other attachments.';

const AttachmentType = builder.objectRef<PolicyAttachment>(TYPE);

builder.node(AttachmentType, {
  description:
    'Applies a policy to calls that match each of `teams`, `keys`, `models` and `tags`. An empty list matches every call.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getPolicyAttachment(scope, { id })),
  fields: (t) => ({
    attachmentId: t.exposeString('id', { description: 'Local id, as in the HTTP API.' }),
    policyName: t.exposeString('policyName', { description: 'Name of the policy.' }),
    scope: t.string({
      nullable: true,
      description: `${SCOPE} Null when the lists or \`isDefault\` select the calls.`,
      resolve: ({ scope }) => scope,
    }),
    teams: t.stringList({ description: TEAMS, resolve: ({ teams }) => [...teams] }),
    keys: t.stringList({ description: KEYS, resolve: ({ keys }) => [...keys] }),
    models: t.stringList({ description: MODELS, resolve: ({ models }) => [...models] }),
    tags: t.stringList({ description: TAGS, resolve: ({ tags }) => [...tags] }),
    priority: t.int({ nullable: true, description: PRIORITY, resolve: ({ priority }) => priority }),
    isDefault: t.exposeBoolean('isDefault', { description: DEFAULT }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the attachment was created. Null for an attachment of the configuration file.',
      resolve: ({ createdAt }) => createdAt,
    }),
  }),
});

const FilterType = builder.inputType('PolicyAttachmentFilter', {
  description: 'Filter of attachments. Blank text is ignored.',
  fields: (t) => ({ policyName: t.string({ description: 'Exact name of the policy.' }) }),
});

const OrderType = valueOrder('PolicyAttachment', 'attachments of policies', {
  POLICY_NAME: { value: 'policy_name', description: 'Name of the policy.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When the attachment was created; attachments of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  policy_name: (row: PolicyAttachment) => row.policyName,
  created_at: (row: PolicyAttachment) => row.createdAt?.getTime() ?? 0,
};

const idOf = ({ id }: PolicyAttachment) => id;

builder.queryField('policyAttachments', (t) =>
  t.connection(
    {
      type: AttachmentType,
      description:
        'Attachments of policies, by default those of the configuration file first. For proxy administrators with full or read-only access.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All attachments when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'The order of creation when absent.' }),
      },
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listPolicyAttachments(scope, undefined).filter((row) =>
          matchesValue(row.policyName, filter?.policyName),
        );
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    { ...pageType('PolicyAttachment', 'attachments'), fields: (pageFields) => totalCount(pageFields, 'attachments') },
    edgeType('PolicyAttachment', 'attachment'),
  ),
);

const MatchType = builder.objectRef<MatchedPolicy>('MatchedPolicy');
MatchType.implement({
  description: 'A policy that applies to a call.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the policy.' }),
    via: t.exposeString('via', {
      description: 'Why the policy applies, such as `scope:*` or `team:sales+model:gpt-4o`.',
    }),
    guardrails: t.stringList({
      description: 'Names of the guardrails of the policy for the model of the call, inherited guardrails included.',
      resolve: ({ guardrails }) => [...guardrails],
    }),
  }),
});

const FactsInput = builder.inputType('PolicyMatchInput', {
  description: 'Facts of a call. An absent fact matches only empty lists and `*`.',
  fields: (t) => ({
    teamAlias: t.string({ description: 'Alias of the team of the key.' }),
    teamId: t.string({ description: 'Local id of the team of the key.' }),
    keyAlias: t.string({ description: 'Alias of the key.' }),
    model: t.string({ description: 'Name of the model.' }),
    tags: t.stringList({ description: 'Tags of the call.' }),
  }),
});

builder.queryField('matchingPolicies', (t) =>
  t.field({
    type: [MatchType],
    description:
      'The policies that attachments apply to a call with these facts, in the order of their priority. No call is made. For proxy administrators with full or read-only access.',
    args: { input: t.arg({ type: FactsInput, required: true, description: 'The call.' }) },
    resolve: (_root, { input }, { scope }) => [
      ...listMatchingPolicies(scope, {
        teamAlias: input.teamAlias ?? null,
        teamId: input.teamId ?? null,
        keyAlias: input.keyAlias ?? null,
        model: input.model ?? null,
        tags: input.tags ?? [],
      }),
    ],
  }),
);

const CreateInput = builder.inputType('CreatePolicyAttachmentInput', {
  description:
    'An attachment to create. It needs `scope`, `isDefault`, or at least one of `teams`, `keys`, `models` and `tags`.',
  fields: (t) => ({
    policyName: t.string({ required: true, description: 'Name of a policy in force.' }),
    scope: t.string({ description: SCOPE }),
    teams: t.stringList({ description: TEAMS }),
    keys: t.stringList({ description: KEYS }),
    models: t.stringList({ description: MODELS }),
    tags: t.stringList({ description: TAGS }),
    priority: t.int({ description: PRIORITY }),
    isDefault: t.boolean({ description: DEFAULT }),
  }),
});

const rulesOf = (input: typeof CreateInput.$inferInput): AttachmentRules => ({
  policyName: input.policyName,
  scope: input.scope ?? null,
  teams: input.teams ?? [],
  keys: input.keys ?? [],
  models: input.models ?? [],
  tags: input.tags ?? [],
  priority: input.priority ?? null,
  isDefault: input.isDefault ?? false,
});

const AffectedType = builder.objectRef<AffectedRows>('AffectedRows');
AffectedType.implement({
  description: 'Keys or teams to whose calls an attachment would apply.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Number of all of them.' }),
    unnamed: t.exposeInt('unnamed', { description: 'Number of those without an alias.' }),
    sample: t.stringList({ description: 'Aliases of at most 10 of them.', resolve: ({ sample }) => [...sample] }),
  }),
});

const ImpactType = builder.objectRef<{ readonly counted: AttachmentImpact | null }>('PolicyAttachmentImpact');
ImpactType.implement({
  description: 'Keys and teams to whose calls an attachment would apply.',
  fields: (t) => ({
    affectsAll: t.boolean({
      description: 'Whether it would apply to calls of every key. If so, nothing is counted.',
      resolve: ({ counted }) => counted === null,
    }),
    keys: t.field({
      type: AffectedType,
      nullable: true,
      description: 'The keys; null for all.',
      resolve: ({ counted }) => counted?.keys ?? null,
    }),
    teams: t.field({
      type: AffectedType,
      nullable: true,
      description: 'The teams; null for all.',
      resolve: ({ counted }) => counted?.teams ?? null,
    }),
  }),
});

builder.queryField('policyAttachmentImpact', (t) =>
  t.field({
    type: ImpactType,
    description:
      'The keys and teams that an attachment would affect. Models and tags of requests are not compared. Nothing is stored, and the policy need not exist. For proxy administrators with full or read-only access.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The attachment.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'PolicyAttachmentImpactResult', description: 'The counts, or why the attachment is not valid.' },
    },
    resolve: async (_root, { input }, { scope }) => ({
      counted: await estimateAttachmentImpact(scope, rulesOf(input)),
    }),
  }),
);

const DeleteInput = builder.inputType('DeletePolicyAttachmentInput', {
  description: 'The attachment to remove.',
  fields: (t) => ({
    attachment: t.id({ required: true, description: 'The attachment: global id or `attachmentId`.' }),
  }),
});

builder.mutationFields((t) => ({
  createPolicyAttachment: t.field({
    type: AttachmentType,
    description: `Stores an attachment, which applies a policy to calls. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The policy and the calls.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'CreatePolicyAttachmentResult', description: 'The attachment, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) => createPolicyAttachment(scope, rulesOf(input)),
  }),
  deletePolicyAttachment: t.field({
    type: AttachmentType,
    description: `Removes an attachment of a policy. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The attachment.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: {
        name: 'DeletePolicyAttachmentResult',
        description: 'The removed attachment, or why it was not removed.',
      },
    },
    resolve: (_root, { input }, { scope }) => deletePolicyAttachment(scope, { id: localId(TYPE, input.attachment) }),
  }),
}));
