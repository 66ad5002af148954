import type { Scope } from '../resolvers/operation/scope.ts';
import {
  createPrompt,
  deletePrompt,
  getPrompt,
  listPrompts,
  listPromptVersions,
  replacePrompt,
  testPrompt,
  updatePrompt,
} from '../resolvers/prompts.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { CHAT_COMPLETIONS } from '../src/domain/inference/endpoint.ts';
import type { PromptDraft, PromptPatch } from '../src/domain/prompts/prompt.ts';
import { renderPrompt, renderShownPrompt } from './helpers/answers/prompts.ts';
import {
  dictionary,
  listOf,
  members,
  object,
  optional,
  orNull,
  parseObject,
  required,
  requiredText,
} from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described } from './helpers/http/schema.ts';
import { callContext, callThrough, openAiFormat } from './helpers/model-call/model-call.ts';

const readPrompt = members({
  prompt_id: requiredText,
  litellm_params: required(dictionary),
  prompt_info: optional(orNull(object)),
});
const readPatch = members({ litellm_params: optional(orNull(object)), prompt_info: optional(orNull(object)) });
const readTest = members({
  dotprompt_content: requiredText,
  prompt_variables: optional(orNull(object)),
  conversation_history: listOf(described({ type: 'object' }, (input) => object(input))),
});

function parseNew({ body }: HttpRequest): PromptDraft {
  const { prompt_id: promptId, litellm_params: params, prompt_info: info } = readPrompt(parseObject(body));
  return { promptId, params, info: info ?? null };
}

/** The id in the path replaces `prompt_id` of the body. */
const parseReplaced = (request: HttpRequest): PromptDraft => ({
  ...parseNew(request),
  promptId: request.params['id'] ?? '',
});

function parsePatch({ body, params: { id = '' } }: HttpRequest): { readonly id: string; readonly patch: PromptPatch } {
  const { litellm_params: params, prompt_info: info } = readPatch(parseObject(body));
  const patch = { ...(params ? { params } : {}), ...(info ? { info } : {}) };
  return { id, patch };
}

const idIn = ({ params }: HttpRequest): { readonly id: string } => ({ id: params['id'] ?? '' });

/**
 * The model request of a test: a streamed chat with the messages of `conversation_history`. The operation adds the
 * messages and the model of the template.
 */
function testedChat(request: HttpRequest): ModelRequest {
  const { conversation_history: history } = readTest(parseObject(request.body));
  const body = { model: '', messages: history ?? [], stream: true };
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    endpoint: CHAT_COMPLETIONS,
    model: '',
    stream: true,
    includeUsage: false,
    bytes,
    body,
    ...callContext(request),
  };
}

const handleTest = (request: HttpRequest, scope: Scope) => {
  const { dotprompt_content: content, prompt_variables: variables } = readTest(parseObject(request.body));
  return callThrough(
    {
      ...openAiFormat(CHAT_COMPLETIONS),
      read: testedChat,
      call: (within, modelRequest) =>
        testPrompt(within, { content, variables: new Map(Object.entries(variables ?? {})), request: modelRequest }),
    },
    request,
    scope,
  );
};

const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;

/** Prompts and their versions. */
export const promptRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'prompts.list',
    paths: ['/prompts/list'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listPrompts,
    render: (prompts) => json({ prompts: prompts.map((one) => renderPrompt(one, one.promptId)) }),
  }),
  route({
    ...CHANGE,
    name: 'prompts.create',
    bodySchema: readPrompt.schema,
    paths: ['/prompts'],
    statuses: [200, 400, 401, 403, 422],
    parse: parseNew,
    run: createPrompt,
    render: (prompt) => json(renderPrompt(prompt, prompt.id)),
  }),
  {
    ...CHANGE,
    name: 'prompts.test',
    bodySchema: readTest.schema,
    paths: ['/prompts/test'],
    surface: 'proxy',
    relays: 'failures',
    statuses: [200, 400, 401, 422],
    bodyLimit: 'setting',
    handle: handleTest,
  },
  route({
    ...READ,
    name: 'prompts.versions',
    paths: ['/prompts/:id/versions'],
    statuses: [200, 401, 404],
    parse: idIn,
    run: listPromptVersions,
    render: (versions) => json({ prompts: versions.map((one) => renderPrompt(one, one.id)) }),
  }),
  route({
    ...READ,
    name: 'prompts.get',
    paths: ['/prompts/:id', '/prompts/:id/info'],
    statuses: [200, 400, 401],
    parse: idIn,
    run: getPrompt,
    render: (shown, request) => json(renderShownPrompt(shown, idIn(request).id)),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'prompts.replace',
    bodySchema: readPrompt.schema,
    paths: ['/prompts/:id'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseReplaced,
    run: replacePrompt,
    render: (prompt) => json(renderPrompt(prompt, prompt.id)),
  }),
  route({
    ...CHANGE,
    method: 'PATCH',
    name: 'prompts.update',
    bodySchema: readPatch.schema,
    paths: ['/prompts/:id'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parsePatch,
    run: updatePrompt,
    render: (prompt) => json(renderPrompt(prompt, prompt.id)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'prompts.delete',
    paths: ['/prompts/:id'],
    statuses: [200, 400, 401, 403, 404],
    parse: idIn,
    run: deletePrompt,
    render: ({ promptId }) => json({ message: `Prompt ${promptId} deleted successfully` }),
  }),
];
