import {
  createGuardrail,
  deleteGuardrail,
  getGuardrail,
  listGuardrails,
  updateGuardrail,
} from '../resolvers/guardrails.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { GuardrailDefinition } from '../src/domain/guardrails/definition.ts';
import type { GuardrailPatch } from '../src/domain/guardrails/stored-guardrail.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'Guardrail';
const GUARDRAIL_ID = 'The guardrail: global id or `guardrailId`.';
const NAME = 'Name by which keys, teams and requests select the guardrail.';
const INFO = 'Free-form information: an object.';
const TEAM = 'Team that owns the guardrail: global id or local id.';

const ModeType = builder.enumType('GuardrailMode', {
  description: 'When a guardrail runs.',
  values: {
    PRE_CALL: { value: 'pre_call', description: 'Before the call; it may edit the request.' },
    DURING_CALL: { value: 'during_call', description: 'Concurrently with the call.' },
    POST_CALL: { value: 'post_call', description: 'On the answer.' },
    LOGGING_ONLY: { value: 'logging_only', description: 'On the recorded texts of the call.' },
  } as const,
});

const GuardrailType = builder.objectRef<GuardrailDefinition>(TYPE);

builder.node(GuardrailType, {
  description: 'A configured check of the texts of calls and answers.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getGuardrail(scope, { id })),
  fields: (t) => ({
    guardrailId: t.exposeString('id', { description: 'Local id, as in the HTTP API.' }),
    name: t.exposeString('name', { description: `${NAME} Guardrails of the configuration file may share a name.` }),
    kind: t.exposeString('kind', { description: 'Type of the check, such as `litellm_content_filter`.' }),
    modes: t.field({ type: [ModeType], description: 'When it runs.', resolve: ({ modes }) => [...modes] }),
    defaultOn: t.exposeBoolean('defaultOn', {
      description: 'Whether it runs on calls that neither select it nor opt out.',
    }),
    params: t.field({
      type: 'JSON',
      description: 'All settings, as `litellm_params` in the HTTP API. Secrets are `REDACTED`.',
      resolve: ({ params }) => redacted('litellm_params', params, 'admin') as GuardrailDefinition['params'],
    }),
    info: t.field({
      type: 'JSON',
      nullable: true,
      description: `${INFO} Null when none is set.`,
      resolve: ({ info }) => info,
    }),
    teamId: t.string({
      nullable: true,
      description: 'Local id of the team that owns it. Null when no team owns it.',
      resolve: ({ teamId }) => teamId,
    }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was stored. Null for a guardrail of the configuration file.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last changed. Null for a guardrail of the configuration file.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const GuardrailFilterType = builder.inputType('GuardrailFilter', {
  description: 'Filter of guardrails. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name contains; letter case is ignored.' }),
    kind: t.string({ description: 'Exact type of the check.' }),
    mode: t.field({ type: ModeType, description: 'A mode in which the guardrail runs.' }),
    defaultOn: t.boolean({ description: 'Exact `defaultOn`.' }),
    teamId: t.id({ description: TEAM }),
  }),
});

const GuardrailOrderType = valueOrder('Guardrail', 'guardrails', {
  NAME: { value: 'name', description: 'Name.' },
  KIND: { value: 'kind', description: 'Type of the check.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When it was stored; guardrails of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  name: (row: GuardrailDefinition) => row.name,
  kind: (row: GuardrailDefinition) => row.kind,
  created_at: (row: GuardrailDefinition) => row.createdAt?.getTime() ?? 0,
};

type GuardrailFilter = typeof GuardrailFilterType.$inferInput | null | undefined;

const matches = ({ name, kind, modes, defaultOn, teamId }: GuardrailDefinition, filter: GuardrailFilter): boolean =>
  containsText(name, filter?.name) &&
  matchesValue(kind, filter?.kind) &&
  (!filter?.mode || modes.includes(filter.mode)) &&
  matchesValue(defaultOn, filter?.defaultOn) &&
  matchesValue(teamId, localId('Team', filter?.teamId));

const idOf = ({ id }: GuardrailDefinition) => id;

builder.queryField('guardrails', (t) =>
  t.connection(
    {
      type: GuardrailType,
      description:
        'Guardrails, by default in the order in which they run: guardrails of the configuration file first. For proxy administrators with full or read-only access.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: GuardrailFilterType, description: 'All guardrails when absent.' }),
        orderBy: t.arg({ type: GuardrailOrderType, description: 'The order in which they run when absent.' }),
      },
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listGuardrails(scope, undefined).filter((row) => matches(row, filter));
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    { ...pageType('Guardrail', 'guardrails'), fields: (pageFields) => totalCount(pageFields, 'guardrails') },
    edgeType('Guardrail', 'guardrail'),
  ),
);

const CreateInput = builder.inputType('CreateGuardrailInput', {
  description: 'A guardrail to store.',
  fields: (t) => ({
    guardrailId: t.string({ description: 'Its id; generated when absent.' }),
    name: t.string({ required: true, description: `${NAME} Unique.` }),
    params: t.field({
      type: 'JSON',
      required: true,
      description: 'Settings, an object with `guardrail` (the kind) and `mode`. They are stored encrypted.',
    }),
    info: t.field({ type: 'JSON', description: INFO }),
    teamId: t.string({ description: TEAM }),
  }),
});

const UpdateInput = builder.inputType('UpdateGuardrailInput', {
  description: 'Changes to a guardrail. Absent members stay as they are.',
  fields: (t) => ({
    guardrail: t.id({ required: true, description: GUARDRAIL_ID }),
    name: t.string({ description: `${NAME} Unique.` }),
    params: t.field({
      type: 'JSON',
      description: 'Settings to change; null removes a setting. `REDACTED` leaves a secret unchanged.',
    }),
    info: t.field({ type: 'JSON', description: `${INFO} Null removes it.` }),
    teamId: t.string({ description: `${TEAM} Null removes the owner.` }),
  }),
});

const DeleteInput = builder.inputType('DeleteGuardrailInput', {
  description: 'The guardrail to delete. Calls of keys that name it are then refused.',
  fields: (t) => ({ guardrail: t.id({ required: true, description: GUARDRAIL_ID }) }),
});

const infoOf = (input: unknown): GuardrailDefinition['info'] =>
  input === null || input === undefined ? null : readObject(input, 'info');

function patchOf({ name, params, info, teamId }: typeof UpdateInput.$inferInput): GuardrailPatch {
  return {
    ...(name === null || name === undefined ? {} : { name }),
    ...(params === null || params === undefined ? {} : { changedParams: readObject(params, 'params') }),
    ...(info === undefined ? {} : { info: infoOf(info) }),
    ...(teamId === undefined ? {} : { teamId: localId('Team', teamId) }),
  };
}

builder.mutationFields((t) => ({
  createGuardrail: t.field({
    type: GuardrailType,
    description: `Stores a guardrail. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The guardrail.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateGuardrailResult', description: 'The guardrail, or why it was not stored.' },
    },
    resolve: (_root, { input: { guardrailId, name, params, info, teamId } }, { scope }) =>
      createGuardrail(scope, {
        id: guardrailId ?? null,
        name,
        params: readObject(params, 'params'),
        info: infoOf(info),
        teamId: localId('Team', teamId ?? null),
      }),
  }),
  updateGuardrail: t.field({
    type: GuardrailType,
    description: `Changes a stored guardrail. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The guardrail and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateGuardrailResult', description: 'The changed guardrail, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      updateGuardrail(scope, { id: localId(TYPE, input.guardrail), patch: patchOf(input) }),
  }),
  deleteGuardrail: t.field({
    type: GuardrailType,
    description: `Deletes a stored guardrail. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The guardrail.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'DeleteGuardrailResult', description: 'The deleted guardrail, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deleteGuardrail(scope, { id: localId(TYPE, input.guardrail) }),
  }),
}));
