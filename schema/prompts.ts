import { createPrompt, deletePrompt, getPrompt, listPrompts, updatePrompt } from '../resolvers/prompts.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import type { PromptVersion } from '../src/domain/prompts/prompt.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'Prompt';
const PROMPT_ID =
  'The version: global id, `promptId` with a version such as `greeting.v2`, or `promptId` for the latest.';
const PARAMS = 'An object as `litellm_params` in the HTTP API. Its member `dotprompt_content` is the template.';
const INFO = 'Free-form information: an object.';

const PromptType = builder.objectRef<PromptVersion>(TYPE);

builder.node(PromptType, {
  description: 'One version of a prompt: a template of messages that calls name by `prompt_id`.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getPrompt(scope, { id }).prompt),
  fields: (t) => ({
    promptId: t.exposeString('promptId', { description: 'Id of the prompt, the same for all versions.' }),
    version: t.exposeInt('version', { description: 'Number of the version, from 1.' }),
    environment: t.exposeString('environment', { description: 'Label of the version, `development` by default.' }),
    params: t.field({
      type: 'JSON',
      description: PARAMS,
      resolve: ({ params }) => redacted('litellm_params', params, 'admin') as JsonObject,
    }),
    info: t.field({ type: 'JSON', description: INFO, resolve: ({ info }) => info }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the version was stored. Null for a prompt of the configuration file.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the version was last changed. Null for a prompt of the configuration file.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const FilterType = builder.inputType('PromptFilter', {
  description: 'Filter of prompts. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    promptId: t.string({ description: 'Text that the id contains; letter case is ignored.' }),
    environment: t.string({ description: 'Exact environment.' }),
  }),
});

const OrderType = valueOrder('Prompt', 'prompts', {
  PROMPT_ID: { value: 'prompt_id', description: 'Id of the prompt.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When the version was stored; prompts of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  prompt_id: (row: PromptVersion) => row.promptId,
  created_at: (row: PromptVersion) => row.createdAt?.getTime() ?? 0,
};

const idOf = ({ id }: PromptVersion) => id;

builder.queryField('prompts', (t) =>
  t.connection(
    {
      type: PromptType,
      description:
        'Latest versions of prompts. A key with the list `prompts` in its metadata sees the prompts in the list. Without the list, administrators see all prompts, and other keys see none.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All prompts when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'The order of creation when absent.' }),
      },
      resolve: (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = listPrompts(scope, undefined).filter(
          (row) => containsText(row.promptId, filter?.promptId) && matchesValue(row.environment, filter?.environment),
        );
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    { ...pageType('Prompt', 'prompts'), fields: (pageFields) => totalCount(pageFields, 'prompts') },
    edgeType('Prompt', 'prompt'),
  ),
);

const CreateInput = builder.inputType('CreatePromptInput', {
  description: 'The next version of a new or existing prompt.',
  fields: (t) => ({
    promptId: t.string({ required: true, description: 'Id of the prompt, without a version.' }),
    params: t.field({ type: 'JSON', required: true, description: PARAMS }),
    info: t.field({ type: 'JSON', description: INFO }),
  }),
});

const UpdateInput = builder.inputType('UpdatePromptInput', {
  description: 'Changes to a version of a prompt. Absent members stay as they are.',
  fields: (t) => ({
    prompt: t.id({ required: true, description: PROMPT_ID }),
    params: t.field({ type: 'JSON', description: `${PARAMS} Replaces the stored object.` }),
    info: t.field({ type: 'JSON', description: `${INFO} Replaces the stored object.` }),
  }),
});

const DeleteInput = builder.inputType('DeletePromptInput', {
  description: 'The prompt to delete, with all its versions.',
  fields: (t) => ({ prompt: t.id({ required: true, description: PROMPT_ID }) }),
});

builder.mutationFields((t) => ({
  createPrompt: t.field({
    type: PromptType,
    description: `Stores the next version of a new or existing prompt. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The prompt.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreatePromptResult', description: 'The version, or why it was not stored.' },
    },
    resolve: (_root, { input }, { scope }) =>
      createPrompt(scope, {
        promptId: input.promptId,
        params: readObject(input.params, 'params'),
        info: input.info === null || input.info === undefined ? null : readObject(input.info, 'info'),
      }),
  }),
  updatePrompt: t.field({
    type: PromptType,
    description: `Changes a version of a prompt in place. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The version and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdatePromptResult', description: 'The changed version, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      updatePrompt(scope, {
        id: localId(TYPE, input.prompt),
        patch: {
          ...(input.params ? { params: readObject(input.params, 'params') } : {}),
          ...(input.info ? { info: readObject(input.info, 'info') } : {}),
        },
      }),
  }),
  deletePrompt: t.field({
    type: PromptType,
    description: `Deletes all versions of a prompt. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The prompt.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: {
        name: 'DeletePromptResult',
        description: 'The latest version of the prompt, or why the prompt was not deleted.',
      },
    },
    resolve: (_root, { input }, { scope }) => deletePrompt(scope, { id: localId(TYPE, input.prompt) }),
  }),
}));
