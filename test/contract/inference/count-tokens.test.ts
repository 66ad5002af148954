import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTrace } from './trace-spans.ts';
import { CREDENTIAL, type MessagesServer, startMessagesServer, refusal } from './messages-server.ts';

const PATHS = ['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'] as const;
const REQUEST = { model: 'claude', messages: [{ role: 'user', content: 'x'.repeat(35) }] };
/** Estimate of the gateway: ten tokens for 35 bytes of text, and four for the message. */
const ESTIMATE = { status: 200, body: { input_tokens: 14 }, headers: { 'x-gateway-tokens-counted-by': 'estimate' } };

let server: MessagesServer;
beforeAll(async () => {
  server = await startMessagesServer();
});
afterAll(() => server.stop());

const ask = (body: unknown, headers: Record<string, string> = {}, path: string = PATHS[0]) =>
  server.ask(body, headers, path);

async function keyOf(draft: object): Promise<{ authorization: string }> {
  const response = await server.app.call('POST', '/key/generate', draft);
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

describe('messages.countTokens 200', () => {
  it.each([...PATHS, `${PATHS[0]}?beta=true`])('on %s: the count of the upstream', async (path) => {
    server.answerWith(200, { input_tokens: 2095 });
    const counted = await ask({ ...REQUEST, tags: ['t'] }, { 'anthropic-beta': 'token-counting-2024-11-01' }, path);
    expect(counted).toMatchObject({ status: 200, headers: { 'x-gateway-tokens-counted-by': 'upstream' } });
    expect(counted.body).toEqual({ input_tokens: 2095, litellm_count_source: 'provider' });
    expect(server.lastUpstreamRequest()).toMatchObject({
      path: '/v1/messages/count_tokens',
      headers: { 'x-api-key': CREDENTIAL, 'anthropic-beta': 'token-counting-2024-11-01' },
    });
    expect(server.lastUpstreamRequest().body).toEqual({ ...REQUEST, model: 'claude-up-1' });
  });

  it.each([
    [500, { type: 'error', error: { type: 'api_error', message: 'x' } }],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }],
    // Without a known error type, a 404 means that the upstream has no endpoint for counts.
    [404, { detail: 'Not Found' }],
    [200, { tokens: 7 }],
    [200, '<html>'],
  ])('an estimate if the upstream answers %i %j', async (status, body) => {
    server.answerWith(status, body);
    expect(await ask(REQUEST)).toMatchObject(ESTIMATE);
  });

  it('an estimate without an upstream call if the provider does not count tokens', async () => {
    const earlierRequests = server.upstream.received.length;
    expect(await ask({ ...REQUEST, model: 'other' })).toMatchObject(ESTIMATE);
    expect(await ask({ ...REQUEST, model: 'demo' })).toMatchObject(ESTIMATE);
    expect(server.upstream.received.length).toBe(earlierRequests);
  });

  it('records no trace and needs no budget', async () => {
    server.answerWith(200, { input_tokens: 7 });
    const { traceId, headers } = newTrace();
    const key = await keyOf({ max_budget: 0 });
    expect((await ask(REQUEST, { ...headers, ...key })).status).toBe(200);
    expect((await server.app.call('GET', `/v1/traces/${traceId}`)).status).toBe(404);
  });
});

describe('messages.countTokens', () => {
  it.each([
    ['[]', 'The request body is not a JSON object.', false],
    [{ model: 'claude' }, "/messages/count_tokens: Missing required parameter: 'messages'.", false],
    [{ ...REQUEST, model: null }, "/messages/count_tokens: Missing required parameter: 'model'.", true],
    [
      { ...REQUEST, model: 'nothing' },
      '/messages/count_tokens: Invalid model name passed in model=nothing. Call `/v1/models` to view available models for your key.',
      true,
    ],
  ])('400: a body of %j', async (requestBody, message, isAboutModel) => {
    const { status, body } = await ask(requestBody);
    const { body: plain } = refusal(400, 'invalid_request_error', message);
    // As in the reference, `provider_specific_fields` repeats a message about the model name.
    const error = isAboutModel ? { ...plain.error, provider_specific_fields: { error: message } } : plain.error;
    expect({ status, body }).toEqual({ status: 400, body: { ...plain, error } });
  });

  it('401: an unknown key', async () => {
    const { status, body } = await ask(REQUEST, { authorization: 'Bearer sk-unknown-virtual-key' });
    const message = expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /);
    expect({ status, body }).toEqual(refusal(401, 'authentication_error', message));
  });

  it('403: a model that the key may not call', async () => {
    const { status, body } = await ask(REQUEST, await keyOf({ models: ['other'] }));
    const message =
      "The requested model 'claude' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    expect({ status, body }).toEqual(refusal(403, 'permission_error', message));
  });

  it('413: a body over the limit', async () => {
    const { status, body } = await ask({ ...REQUEST, system: 'x'.repeat(1024 * 1024) });
    const message = 'Request size is too large. Request size is 1 MB. Max size is 1 MB';
    expect({ status, body }).toEqual(refusal(413, 'request_too_large', message));
  });

  it.each([
    [400, 'invalid_request_error', 'BadRequestError'],
    [404, 'not_found_error', 'NotFoundError'],
    [429, 'rate_limit_error', 'RateLimitError'],
  ])('%i: an error of the upstream is forwarded', async (expected, type, kind) => {
    server.answerWith(expected, { type: 'error', error: { type, message: `no ${CREDENTIAL}` } });
    const { status, body } = await ask(REQUEST);
    const message = `litellm.${kind}: ${kind}: AnthropicException - no <secret>`;
    expect({ status, body }).toEqual(refusal(expected, type, message));
  });
});
