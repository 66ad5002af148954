import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, NO_KEY, type PolicyServer, startPolicies, VIEWER_REFUSED } from '../policies/policy-server.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
const CONTENT = '---\nmodel: chat\n---\nUser: hi {{name}}';

let server: PolicyServer;
let userKey: string;
beforeAll(async () => {
  server = await startPolicies([], {
    prompts: [
      {
        prompt_id: 'filed',
        litellm_params: { prompt_integration: 'dotprompt', dotprompt_content: 'System: be {{how}}' },
      },
    ],
  });
  const [, made] = await server.manage('POST', '/key/generate', {});
  userKey = String((made as Json)['key']);
});
afterAll(() => server.stop());

const draft = (prompt_id: string, dotprompt_content = CONTENT): Json => ({
  prompt_id,
  litellm_params: { prompt_id, prompt_integration: 'dotprompt', dotprompt_content },
  prompt_info: { prompt_type: 'db' },
});
/** A version of a stored prompt. */
const promptOf = (id: string, version: number, members: Json = {}): Json => ({
  prompt_id: `${id}.v${version}`,
  litellm_params: {
    prompt_id: id,
    prompt_integration: 'dotprompt',
    api_base: null,
    api_key: null,
    provider_specific_query_params: null,
    ignore_prompt_manager_model: false,
    ignore_prompt_manager_optional_params: false,
    dotprompt_content: CONTENT,
  },
  prompt_info: { prompt_type: 'db', environment: 'development' },
  created_at: TIME,
  updated_at: TIME,
  version,
  environment: 'development',
  created_by: 'default_user_id',
  ...members,
});
const missing = (...names: readonly string[]) => [
  422,
  { detail: names.map((name) => ({ type: 'missing', loc: ['body', name], msg: 'Field required' })) },
];

describe('prompts over HTTP', () => {
  it('400: an invalid environment', async () => {
    for (const environment of [5, '', 'a\u0000', '\ud800', 'x'.repeat(257)])
      expect(await server.manage('POST', '/prompts', { ...draft('env'), prompt_info: { environment } })).toEqual([
        400,
        {
          detail:
            'prompt_info.environment must be a text of 1 to 256 characters, without control characters and unpaired surrogates',
        },
      ]);
  });

  it('prompts.create 200, prompts.replace 200, prompts.update 200, prompts.get 200, prompts.versions 200, prompts.delete 200, prompts.delete 404, prompts.replace 404, prompts.update 404, prompts.versions 404: one prompt', async () => {
    expect(await server.manage('POST', '/prompts', draft('pr'))).toEqual([200, promptOf('pr', 1)]);
    expect(await server.manage('POST', '/prompts', draft('pr'))).toEqual([200, promptOf('pr', 2)]);
    expect(await server.manage('PUT', '/prompts/pr', draft('pr'))).toEqual([200, promptOf('pr', 3)]);
    const info = { prompt_type: 'db', environment: 'production' };
    const changed = promptOf('pr', 3, { prompt_info: info, environment: 'production' });
    expect(await server.manage('PATCH', '/prompts/pr', { prompt_info: info })).toEqual([200, changed]);
    const shown = [
      200,
      {
        prompt_spec: { ...changed, prompt_id: 'pr' },
        raw_prompt_template: { litellm_prompt_id: 'pr', content: 'User: hi {{name}}', metadata: { model: 'chat' } },
        environments: ['development', 'production'],
      },
    ];
    expect(await server.manage('GET', '/prompts/pr')).toEqual(shown);
    expect(await server.manage('GET', '/prompts/pr/info')).toEqual(shown);
    expect(await server.manage('GET', '/prompts/pr.v1')).toMatchObject([200, { prompt_spec: { version: 1 } }]);
    expect(await server.manage('GET', '/prompts/pr/versions')).toEqual([
      200,
      { prompts: [changed, promptOf('pr', 2), promptOf('pr', 1)] },
    ]);
    const [, listed] = await server.manage('GET', '/prompts/list');
    expect(listed).toMatchObject({
      prompts: [
        { prompt_id: 'filed', version: 1 },
        { prompt_id: 'pr', version: 3 },
      ],
    });
    expect(await server.manage('DELETE', '/prompts/pr')).toEqual([200, { message: 'Prompt pr deleted successfully' }]);
    const gone = [404, { detail: 'Prompt with ID pr not found' }];
    expect(await server.manage('DELETE', '/prompts/pr')).toEqual(gone);
    expect(await server.manage('PUT', '/prompts/pr', draft('pr'))).toEqual(gone);
    expect(await server.manage('PATCH', '/prompts/pr', {})).toEqual(gone);
    expect(await server.manage('GET', '/prompts/pr/versions')).toEqual(gone);
  });

  it('prompts.get 400: an unknown prompt', async () => {
    expect(await server.manage('GET', '/prompts/nope')).toEqual([400, { detail: 'Prompt nope not found' }]);
  });

  it('prompts.create 400: unsupported integrations and templates, and ids that are reserved or of the file', async () => {
    const refused = async (members: Json, id = 'wrong') => {
      const params = { prompt_integration: 'dotprompt', dotprompt_content: 'hi', ...members };
      const [status, body] = await server.manage('POST', '/prompts', { prompt_id: id, litellm_params: params });
      return [status, (body as Json)['detail']];
    };
    expect(await refused({ prompt_integration: 'langfuse' })).toEqual([
      400,
      'prompt_integration must be dotprompt: prompts of other services are not read',
    ]);
    expect(await refused({ api_key: 'k' })).toEqual([
      400,
      'litellm_params.api_key is not supported: send the template as dotprompt_content',
    ]);
    expect(await refused({ dotprompt_content: '{% for x in y %}' })).toEqual([
      400,
      'The template has a statement. Only {{variable}} is supported.',
    ]);
    expect(await refused({ dotprompt_content: '{{ a.__class__ }}' })).toEqual([
      400,
      'The template has the expression {{ a.__class__ }}. Only {{variable}} is supported, with letters, digits and _.',
    ]);
    expect(await refused({ dotprompt_content: '---\n- a\n---\nhi' })).toEqual([
      400,
      'The front matter of the template must be a map.',
    ]);
    expect(await refused({ dotprompt_content: '---\na: [\n---\nhi' })).toEqual([
      400,
      'The front matter of the template is not valid YAML.',
    ]);
    expect(await refused({ dotprompt_content: '' })).toEqual([400, 'The template is empty.']);
    expect(await refused({}, 'a.v2')).toEqual([
      400,
      'prompt_id must not end with a version: the server numbers the versions',
    ]);
    expect(await refused({}, 'filed')).toEqual([
      400,
      'The prompt filed is in the configuration file. Change it there.',
    ]);
  });

  it('prompts.replace 400, prompts.update 400, prompts.delete 400: a prompt of the configuration file', async () => {
    const detail = 'The prompt filed is in the configuration file. Change it there.';
    expect(await server.manage('PUT', '/prompts/filed', draft('filed'))).toEqual([400, { detail }]);
    expect(await server.manage('PATCH', '/prompts/filed', {})).toEqual([400, { detail }]);
    expect(await server.manage('DELETE', '/prompts/filed')).toEqual([400, { detail }]);
  });

  it('prompts.create 422, prompts.replace 422, prompts.update 422, prompts.test 422: missing members and wrong types', async () => {
    expect(await server.manage('POST', '/prompts', {})).toEqual(missing('prompt_id', 'litellm_params'));
    expect(await server.manage('PUT', '/prompts/filed', {})).toEqual(missing('prompt_id', 'litellm_params'));
    expect(await server.manage('PATCH', '/prompts/filed', { prompt_info: 1 })).toEqual([
      422,
      {
        detail: [{ type: 'dict_type', loc: ['body', 'prompt_info'], msg: 'Input should be a valid dictionary' }],
      },
    ]);
    const [status, body] = await server.manage('POST', '/prompts/test', {});
    expect([status, body]).toEqual(missing('dotprompt_content'));
  });

  it('prompts.test 200, prompts.test 400: a streamed chat with the rendered template', async () => {
    const tested = await server.ask('/prompts/test', { dotprompt_content: CONTENT, prompt_variables: { name: 'Bo' } });
    expect(tested.status).toBe(200);
    expect(tested.headers['content-type']).toContain('text/event-stream');
    expect(JSON.parse(server.upstreamRequests()[0]?.body ?? '')).toMatchObject({
      messages: [{ role: 'user', content: 'hi Bo' }],
      stream: true,
    });
    const { status, body } = await server.ask('/prompts/test', { dotprompt_content: 'hi' });
    expect([status, body]).toEqual([400, { detail: 'Model is required in the front matter of dotprompt_content' }]);
  });
});

const ROUTES: readonly (readonly [name: string, method: string, path: string, body?: object])[] = [
  ['prompts.create', 'POST', '/prompts', draft('x')],
  ['prompts.versions', 'GET', '/prompts/filed/versions'],
  ['prompts.get', 'GET', '/prompts/filed'],
  ['prompts.replace', 'PUT', '/prompts/filed', draft('filed')],
  ['prompts.update', 'PATCH', '/prompts/filed', {}],
  ['prompts.delete', 'DELETE', '/prompts/filed'],
];

/** Names of the routes that change prompts. */
const CHANGING: ReadonlySet<string> = new Set([
  'prompts.create',
  'prompts.replace',
  'prompts.update',
  'prompts.delete',
]);

describe('credentials of prompts', () => {
  it('prompts.create 401, prompts.versions 401, prompts.get 401, prompts.replace 401, prompts.update 401, prompts.delete 401: without a key, and with the key of a user', async () => {
    for (const [, method, path, body] of ROUTES) {
      expect(await server.manage(method, path, body, null)).toEqual([401, NO_KEY]);
      expect((await server.manage(method, path, body, userKey))[0]).toBe(401);
    }
  });

  it('prompts.create 403, prompts.replace 403, prompts.update 403, prompts.delete 403: a read-only administrator', async () => {
    const viewerKey = await server.viewerKey();
    for (const [, method, path, body] of ROUTES.filter(([name]) => CHANGING.has(name)))
      expect(await server.manage(method, path, body, viewerKey)).toEqual([403, VIEWER_REFUSED]);
  });

  it('prompts.list 401, prompts.list 200, prompts.test 401: no key; a key sees only the prompts that it lists', async () => {
    expect(await server.manage('GET', '/prompts/list', undefined, null)).toEqual([401, NO_KEY]);
    expect(await server.manage('GET', '/prompts/list', undefined, userKey)).toEqual([200, { prompts: [] }]);
    const [, made] = await server.manage('POST', '/key/generate', { prompts: ['filed'] });
    const [, listed] = await server.manage('GET', '/prompts/list', undefined, String((made as Json)['key']));
    expect(listed).toMatchObject({ prompts: [{ prompt_id: 'filed' }] });
    expect((await server.manage('POST', '/prompts/test', { dotprompt_content: CONTENT }, null))[0]).toBe(401);
  });
});
