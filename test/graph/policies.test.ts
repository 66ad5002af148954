import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let userKey: string;
beforeAll(async () => {
  app = await startApp({
    config: {
      guardrails: [
        {
          guardrail_name: 'g',
          litellm_params: { guardrail: 'litellm_content_filter', mode: 'pre_call', blocked_words: [] },
        },
      ],
      policies: { filed: { guardrails: { add: ['g'] } } },
    },
  });
  const made = await app.call('POST', '/key/generate', {});
  userKey = ((await made.json()) as { readonly key: string }).key;
});
afterAll(() => app.stop());

type Answer = Readonly<Record<string, unknown>>;

/** Fields of `data` of an answer, with `errors` if there are any. */
async function ask(query: string, input?: object, key = app.adminKey): Promise<Answer> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Answer; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

const POLICY =
  'id policyId name version isLatest status parentId inherit guardrailsAdd guardrailsRemove condition pipeline isFromConfig';
const ATTACHMENT = 'id attachmentId policyName scope teams keys models tags priority isDefault isFromConfig';

/** Runs a mutation. Returns its result. */
async function change(field: string, type: string, members: string, input: object): Promise<Answer> {
  const inputType = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const query = `mutation ($input: ${inputType}!) { ${field}(input: $input) { __typename ... on ${type} { ${members} } ... on UserError { message code } } }`;
  const answer = await ask(query, input);
  return (answer[field] ?? answer) as Answer;
}

const ID = expect.any(String) as string;

describe('policies in the graph', () => {
  it('are created, get a version in force, are attached, matched and deleted', async () => {
    const pipeline = { mode: 'pre_call', steps: [{ guardrail: 'g' }] };
    const made = await change('createPolicy', 'Policy', POLICY, {
      name: 'p',
      guardrailsAdd: ['g'],
      pipeline,
      inherit: 'filed',
    });
    expect(made).toEqual({
      __typename: 'Policy',
      id: ID,
      policyId: ID,
      name: 'p',
      version: 1,
      isLatest: true,
      status: 'PRODUCTION',
      parentId: null,
      inherit: 'filed',
      guardrailsAdd: ['g'],
      guardrailsRemove: [],
      condition: null,
      pipeline: {
        mode: 'pre_call',
        steps: [
          {
            guardrail: 'g',
            on_pass: 'allow',
            on_fail: 'block',
            on_error: null,
            pass_data: false,
            modify_response_message: null,
          },
        ],
      },
      isFromConfig: false,
    });
    const draft = await change('createPolicyVersion', 'Policy', POLICY, { name: 'p' });
    expect(draft).toMatchObject({ version: 2, status: 'DRAFT', parentId: made['policyId'] });
    const changed = await change('updatePolicy', 'Policy', POLICY, {
      policy: draft['id'],
      pipeline: null,
      condition: { model: 'm' },
    });
    expect(changed).toMatchObject({ pipeline: null, condition: { model: 'm' }, inherit: 'filed' });
    for (const status of ['PUBLISHED', 'PRODUCTION'])
      expect(await change('setPolicyStatus', 'Policy', POLICY, { policy: draft['id'], status })).toMatchObject({
        status,
      });
    const page = await ask(`{ policies(filter: { name: "p" }) { totalCount nodes { name version status } } }`);
    expect(page).toEqual({
      policies: {
        totalCount: 2,
        nodes: [
          { name: 'p', version: 1, status: 'PUBLISHED' },
          { name: 'p', version: 2, status: 'PRODUCTION' },
        ],
      },
    });
    const attached = await change('createPolicyAttachment', 'PolicyAttachment', ATTACHMENT, {
      policyName: 'p',
      teams: ['t'],
    });
    expect(attached).toMatchObject({ policyName: 'p', teams: ['t'], scope: null, isDefault: false });
    const match = '{ matchingPolicies(input: { teamAlias: "t", model: "m" }) { name via guardrails } }';
    expect(await ask(match)).toEqual({ matchingPolicies: [{ name: 'p', via: 'team:t', guardrails: ['g'] }] });
    expect(await ask(`{ policyAttachments { totalCount nodes { policyName } } }`)).toEqual({
      policyAttachments: { totalCount: 1, nodes: [{ policyName: 'p' }] },
    });
    const removed = { attachment: attached['id'] };
    expect(await change('deletePolicyAttachment', 'PolicyAttachment', ATTACHMENT, removed)).toEqual(attached);
    expect(await change('deletePolicyAttachment', 'PolicyAttachment', ATTACHMENT, removed)).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await change('deletePolicy', 'Policy', POLICY, { policy: draft['id'] })).toMatchObject({ version: 2 });
    expect(await change('deletePolicy', 'Policy', POLICY, { policy: 'filed' })).toMatchObject({ code: 'CONFLICT' });
    const audit = await ask('{ auditLog(filter: { noun: POLICY }) { nodes { action } } }');
    expect(JSON.stringify(audit)).toContain('DELETED');
  });

  it('count the keys and teams that an attachment would affect', async () => {
    const impact = (input: string) =>
      ask(`{ policyAttachmentImpact(input: { policyName: "p", ${input} }) {
        __typename ... on UserError { message code }
        ... on PolicyAttachmentImpact { affectsAll keys { count unnamed sample } teams { count unnamed sample } }
      } }`);
    await app.call('POST', '/key/generate', { key_alias: 'counted' });
    expect(await impact('keys: ["count*"]')).toEqual({
      policyAttachmentImpact: {
        __typename: 'PolicyAttachmentImpact',
        affectsAll: false,
        keys: { count: 1, unnamed: 0, sample: ['counted'] },
        teams: { count: 0, unnamed: 0, sample: [] },
      },
    });
    expect(await impact('scope: "*"')).toEqual({
      policyAttachmentImpact: { __typename: 'PolicyAttachmentImpact', affectsAll: true, keys: null, teams: null },
    });
    expect(await impact('scope: "x"')).toEqual({
      policyAttachmentImpact: {
        __typename: 'InvalidInputError',
        message: "scope must be '*', or absent",
        code: 'INVALID_INPUT',
      },
    });
  });

  it('are refused with an unknown guardrail, and for the key of a user', async () => {
    expect(await change('createPolicy', 'Policy', POLICY, { name: 'w', guardrailsAdd: ['gone'] })).toEqual({
      __typename: 'InvalidInputError',
      message: "The guardrail 'gone' does not exist.",
      code: 'INVALID_INPUT',
    });
    const refused = await ask('{ policies { totalCount } }', undefined, userKey);
    expect(refused).toMatchObject({
      errors: [{ message: 'The key lacks the right. Allowed: Proxy administrators with full or read-only access.' }],
    });
  });
});

describe('prompts in the graph', () => {
  const PROMPT = 'id promptId version environment params info isFromConfig';
  it('are stored, changed, listed and deleted', async () => {
    const params = { prompt_integration: 'dotprompt', dotprompt_content: 'hi {{a}}' };
    const made = await change('createPrompt', 'Prompt', PROMPT, { promptId: 'pr', params });
    expect(made).toEqual({
      __typename: 'Prompt',
      id: ID,
      promptId: 'pr',
      version: 1,
      environment: 'development',
      params,
      info: { prompt_type: 'db' },
      isFromConfig: false,
    });
    const changed = await change('updatePrompt', 'Prompt', PROMPT, {
      prompt: made['id'],
      info: { environment: 'test' },
    });
    expect(changed).toMatchObject({ environment: 'test', params });
    expect(await ask('{ prompts { totalCount nodes { promptId environment } } }')).toEqual({
      prompts: { totalCount: 1, nodes: [{ promptId: 'pr', environment: 'test' }] },
    });
    expect(await change('createPrompt', 'Prompt', PROMPT, { promptId: 'x', params: {} })).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await change('deletePrompt', 'Prompt', PROMPT, { prompt: made['id'] })).toMatchObject({ version: 1 });
    expect(await change('deletePrompt', 'Prompt', PROMPT, { prompt: 'pr' })).toMatchObject({ code: 'NOT_FOUND' });
  });
});
