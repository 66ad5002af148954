import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded([
    contentFilter('words', { blocked_words: [{ keyword: 'bad', action: 'BLOCK' }] }),
    contentFilter('mask', { patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }] }),
    { guardrail_name: 'foreign', litellm_params: { guardrail: 'lakera', mode: 'pre_call' } },
  ]);
});
afterAll(() => guarded.stop());

const PATHS = ['/guardrails/apply_guardrail', '/apply_guardrail'];

describe.each(PATHS)('guardrails.apply at %s', (path) => {
  it('guardrails.apply 200: returns the text, unchanged or masked', async () => {
    const key = await guarded.newKey();
    const apply = async (body: object) => {
      const { status, body: answer } = await guarded.ask(path, body, key);
      return [status, answer];
    };
    expect(await apply({ guardrail_name: 'words', text: 'fine' })).toEqual([200, { response_text: 'fine' }]);
    const masked = { guardrail_name: 'mask', text: 'to a@example.com', language: 'en', entities: ['EMAIL_ADDRESS'] };
    expect(await apply(masked)).toEqual([200, { response_text: 'to [EMAIL_REDACTED]' }]);
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('guardrails.apply 400: a text that the guardrail blocks', async () => {
    const { status, body } = await guarded.ask(path, { guardrail_name: 'words', text: 'this is bad' });
    const message = "Content blocked: keyword 'bad' detected";
    expect([status, body]).toEqual([
      400,
      {
        error: {
          message,
          type: 'internal_server_error',
          param: null,
          code: '400',
        },
      },
    ]);
  });

  it('guardrails.apply 422: no text', async () => {
    const { status, body } = await guarded.ask(path, { guardrail_name: 'words' });
    const issue = { type: 'missing', loc: ['body', 'text'], msg: 'Field required' };
    expect([status, body]).toEqual([422, { detail: [issue] }]);
  });

  it('guardrails.apply 401: an unknown key', async () => {
    const { status, body } = await guarded.ask(
      path,
      { guardrail_name: 'words', text: 'x' },
      { authorization: 'Bearer sk-nobody' },
    );
    expect([status, body]).toMatchObject([401, { error: { code: '401' } }]);
  });

  it('guardrails.apply 404: an unknown guardrail', async () => {
    const { status, body } = await guarded.ask(path, { guardrail_name: 'zzz', text: 'x' });
    const message = "Guardrail 'zzz' not found. Please ensure the guardrail is configured in your LiteLLM proxy.";
    expect([status, body]).toEqual([
      404,
      { error: { message, type: 'internal_server_error', param: null, code: '404' } },
    ]);
  });

  it('guardrails.apply 503: a guardrail of a kind that does not run here', async () => {
    const { status } = await guarded.ask(path, { guardrail_name: 'foreign', text: 'x' });
    expect(status).toBe(503);
  });
});

describe('guardrails.testCode', () => {
  const CODE = {
    custom_code: 'def apply_guardrail(inputs, request_data, input_type):\n  return allow()',
    test_input: {},
  };
  const test = (body: object, headers: Record<string, string> = {}) =>
    guarded.ask('/guardrails/test_custom_code', body, headers);

  it('200: code does not run', async () => {
    const { status, body } = await test(CODE);
    expect([status, body]).toEqual([
      200,
      {
        success: false,
        result: null,
        error:
          'Code of guardrails does not run here. Run it in a server of your own, and register the server as a guardrail of the kind generic_guardrail_api.',
        error_type: 'compilation',
      },
    ]);
  });

  it('401: no key, and a user', async () => {
    expect((await test(CODE, { authorization: '' })).status).toBe(401);
    expect((await test(CODE, await guarded.newKey())).status).toBe(401);
  });

  it('403: a read-only administrator', async () => {
    const { body } = await guarded.ask('/user/new', { user_id: 'code-viewer', user_role: 'proxy_admin_viewer' });
    const { key } = body as { readonly key: string };
    expect((await test(CODE, { authorization: `Bearer ${key}` })).status).toBe(403);
  });

  it('422: members are missing', async () => {
    const missing = (name: string) => ({ type: 'missing', loc: ['body', name], msg: 'Field required' });
    expect((await test({})).body).toEqual({ detail: [missing('custom_code'), missing('test_input')] });
  });
});
