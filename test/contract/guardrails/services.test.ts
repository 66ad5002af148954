import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { type GuardedApp, startGuarded } from './guarded-app.ts';

const CHAT = '/v1/chat/completions';
const SECRET = 'John Smith';

/** Answer of the service: status and body, no answer, or a closed connection. */
type Reply = { readonly status?: number; readonly body: unknown } | 'none' | 'cut';

let guarded: GuardedApp;
let service: FaultServer;
let reply: (path: string, body: unknown) => Reply;

const chat = (guardrail: string, text: string, members: object = {}) => ({
  model: 'chat',
  messages: [
    { role: 'system', content: 'be kind' },
    { role: 'user', content: text },
  ],
  guardrails: [guardrail],
  ...members,
});

beforeAll(async () => {
  service = await startFaultServer();
  service.answer((response, socket, { path, body }) => {
    const answer = reply(path, JSON.parse(body));
    if (answer === 'none') return;
    if (answer === 'cut') {
      socket.destroy();
      return;
    }
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  const generic = (name: string, params: object) => ({
    guardrail_name: name,
    litellm_params: {
      guardrail: 'generic_guardrail_api',
      mode: 'pre_call',
      api_base: service.url,
      api_key: 'service-key',
      timeout: 60,
      additional_provider_specific_params: { level: 3 },
      ...params,
    },
  });
  const decision = (name: string, params: object) => ({
    guardrail_name: name,
    litellm_params: {
      guardrail: 'decision_model',
      mode: 'pre_call',
      decision_model: 'decider',
      checks: [{ name: 'rude', instructions: 'is it rude?' }],
      ...params,
    },
  });
  guarded = await startGuarded([
    generic('closed', {}),
    generic('open', { unreachable_fallback: 'fail_open' }),
    generic('short', { timeout: 0.3 }),
    generic('short and open', { timeout: 0.3, unreachable_fallback: 'fail_open' }),
    generic('during', { mode: 'during_call' }),
    generic('both', { mode: ['pre_call', 'post_call'] }),
    {
      guardrail_name: 'moderation',
      litellm_params: {
        guardrail: 'openai_moderation',
        mode: 'pre_call',
        api_base: `${service.url}/v1`,
        api_key: 'service-key',
      },
    },
    {
      guardrail_name: 'presidio',
      litellm_params: {
        guardrail: 'presidio',
        mode: 'pre_call',
        presidio_analyzer_api_base: service.url,
        presidio_anonymizer_api_base: service.url,
        pii_entities_config: { PERSON: 'MASK', US_SSN: 'BLOCK' },
        presidio_score_thresholds: { ALL: 0.5 },
      },
    },
    decision('judge', {}),
    decision('logs', { checks: [{ name: 'rude', instructions: 'is it rude?', action: 'log' }] }),
    decision('strict', { checks: [{ name: 'rude', instructions: 'is it rude?', threshold: 0.95 }] }),
    decision('unreachable', { decision_model: 'not-there' }),
    decision('unreachable-open', { decision_model: 'not-there', unreachable_fallback: 'fail_open' }),
    { guardrail_name: 'foreign', litellm_params: { guardrail: 'lakera', mode: 'pre_call' } },
    {
      guardrail_name: 'incomplete',
      litellm_params: { guardrail: 'generic_guardrail_api', mode: 'pre_call' },
    },
    {
      guardrail_name: 'categories',
      litellm_params: { guardrail: 'litellm_content_filter', mode: 'pre_call', categories: [{ category: 'x' }] },
    },
  ]);
});
afterAll(async () => {
  await guarded.stop();
  await service.stop();
});
beforeEach(() => {
  reply = () => ({ body: { action: 'NONE' } });
  guarded.setAnswer('hello there');
});

const failure = (status: number, message: string, type: string | null = null) => ({
  status,
  body: { error: { message, ...(type === null ? {} : { type }) } },
});

describe('generic_guardrail_api', () => {
  it('receives the texts, the team of the caller, and the credential of the service', async () => {
    const requestsBefore = service.received.length;
    expect((await guarded.ask(CHAT, chat('closed', 'hi'))).status).toBe(200);
    const [call, ...others] = service.received.slice(requestsBefore);
    expect([call?.path, call?.headers['x-api-key'], others]).toEqual([
      '/beta/litellm_basic_guardrail_api',
      'service-key',
      [],
    ]);
    expect(JSON.parse(call?.body ?? '')).toMatchObject({
      input_type: 'request',
      texts: ['be kind', 'hi'],
      structured_messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'hi' },
      ],
      model: 'chat',
      additional_provider_specific_params: { level: 3 },
      request_data: { user_api_key_team_id: null },
    });
  });

  it('200: edits the texts of the request, then those of the answer', async () => {
    reply = (_path, body) => {
      const { texts } = body as { texts: string[] };
      return { body: { action: 'GUARDRAIL_INTERVENED', texts: texts.map((text) => text.replace(SECRET, '<NAME>')) } };
    };
    guarded.setAnswer(`I know ${SECRET}`);
    const answer = await guarded.ask(CHAT, chat('both', `I am ${SECRET}`));
    expect(answer.body).toMatchObject({ choices: [{ message: { content: 'I know <NAME>' } }] });
    expect(guarded.upstreamRequests()[0]?.body).toContain('I am <NAME>');
    expect(guarded.upstreamRequests()[0]?.body).not.toContain(SECRET);
  });

  it('400: the error has the reason of the service, for a block before and during the call', async () => {
    reply = () => ({ body: { action: 'BLOCKED', blocked_reason: 'not today' } });
    const beforeCall = await guarded.ask(CHAT, chat('closed', 'hi'));
    const error = { message: 'not today', type: 'invalid_request_error', param: null, code: '400' };
    expect([beforeCall.status, beforeCall.body, guarded.upstreamRequests()]).toEqual([400, { error }, []]);
    const duringCall = await guarded.ask(CHAT, chat('during', 'hi'));
    expect([duringCall.status, duringCall.body]).toEqual([400, { error }]);
    expect(duringCall.headers['x-litellm-applied-guardrails']).toBe('during');
  });

  it('400: a service that returns fewer texts than it received; the upstream is not called', async () => {
    reply = () => ({ body: { action: 'GUARDRAIL_INTERVENED', texts: ['one'] } });
    const answer = await guarded.ask(CHAT, chat('closed', 'hi'));
    expect(answer).toMatchObject(failure(400, 'The guardrail returned another number of texts than it was given'));
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  // `closed` and `open` name a guardrail that refuses the call and a guardrail that admits the call after a fault.
  const FAULTS: readonly (readonly [what: string, fault: Reply, closed: string, open: string, reason: string])[] = [
    ['hangs', 'none', 'short', 'short and open', 'it did not answer within 0.3 s'],
    ['cuts the connection', 'cut', 'closed', 'open', 'it cannot be reached'],
    ['answers 503', { status: 503, body: {} }, 'closed', 'open', 'it answered with the status 503'],
  ];
  it.each(FAULTS)('502, or 200 with fail_open: a service that %s', async (_what, fault, closed, open, reason) => {
    reply = () => fault;
    const answer = await guarded.ask(CHAT, chat(closed, 'hi'));
    expect(answer).toMatchObject(failure(502, `The guardrail '${closed}' failed to respond: ${reason}`));
    expect(guarded.upstreamRequests()).toEqual([]);
    expect((await guarded.ask(CHAT, chat(open, 'hi'))).status).toBe(200);
  });

  const INVALID_REPLIES: readonly (readonly [string, Reply, string])[] = [
    ['garbage', { body: '<html>' }, 'its answer is not JSON'],
    ['an unknown action', { body: { action: 'MAYBE' } }, 'its answer does not have the form of a guardrail answer'],
    ['401', { status: 401, body: {} }, 'it answered with the status 401'],
  ];
  it.each(INVALID_REPLIES)('502, also with fail_open: a service that answers %s', async (_what, fault, reason) => {
    reply = () => fault;
    for (const name of ['closed', 'open'])
      expect(await guarded.ask(CHAT, chat(name, 'hi'))).toMatchObject(
        failure(502, `The guardrail '${name}' failed to respond: ${reason}`),
      );
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('400: after a block, no fallback is called and nothing is retried', async () => {
    reply = () => ({ body: { action: 'BLOCKED', blocked_reason: 'no' } });
    const answer = await guarded.ask(CHAT, chat('closed', 'hi', { fallbacks: ['claude'], num_retries: 2 }));
    expect([answer.status, guarded.upstreamRequests()]).toEqual([400, []]);
  });
});

describe('openai_moderation', () => {
  const moderationResult = (flagged: boolean) => ({
    flagged,
    categories: { violence: flagged, hate: false },
    category_scores: { violence: flagged ? 0.9 : 0.1 },
  });

  it('200: texts that are not flagged; the service is asked with the default model', async () => {
    reply = () => ({ body: { results: [moderationResult(false), moderationResult(false)] } });
    expect((await guarded.ask(CHAT, chat('moderation', 'hi'))).status).toBe(200);
    const { path, body, headers } = service.received.at(-1) ?? {};
    expect([path, JSON.parse(body ?? ''), headers?.authorization]).toEqual([
      '/v1/moderations',
      { model: 'omni-moderation-latest', input: ['be kind', 'hi'] },
      'Bearer service-key',
    ]);
  });

  it('400: a flagged text', async () => {
    reply = () => ({ body: { results: [moderationResult(false), moderationResult(true)] } });
    expect(await guarded.ask(CHAT, chat('moderation', 'hi'))).toMatchObject({
      status: 400,
      body: {
        error: {
          message: 'Violated OpenAI moderation policy',
          provider_specific_fields: {
            moderation_result: { violated_categories: ['violence'], category_scores: { violence: 0.9 } },
            guardrail_name: 'moderation',
          },
        },
      },
    });
  });

  it('502: fewer results than texts', async () => {
    reply = () => ({ body: { results: [moderationResult(false)] } });
    expect((await guarded.ask(CHAT, chat('moderation', 'hi'))).status).toBe(502);
    expect(guarded.upstreamRequests()).toEqual([]);
  });
});

describe('presidio', () => {
  const TEXT = `I am ${SECRET}`;
  /** Answer of the analyzer: one finding in `TEXT`, at the characters of the name, and none in other texts. */
  const findings = (request: unknown, kind: string, score: number) =>
    (request as { text: string }).text === TEXT ? [{ entity_type: kind, start: 5, end: 15, score }] : [];

  it('200: a text is masked by the anonymizer', async () => {
    reply = (path, body) => {
      const { text } = body as { text: string };
      if (path === '/analyze') return { body: findings(body, 'PERSON', 0.9) };
      return { body: { text: text.replace(SECRET, '<PERSON>') } };
    };
    const listRuns = { include_guardrail_response: true };
    const answer = await guarded.ask(CHAT, chat('presidio', TEXT, listRuns));
    expect(guarded.upstreamRequests()[0]?.body).toContain('I am <PERSON>');
    expect(answer.body).toMatchObject({ guardrail_information: [{ masked_entity_count: { PERSON: 1 } }] });
  });

  it('400: a text with an entity whose action is BLOCK', async () => {
    reply = (_path, body) => ({ body: findings(body, 'US_SSN', 0.9) });
    const answer = await guarded.ask(CHAT, chat('presidio', TEXT));
    const message =
      'Blocked entity detected: US_SSN by Guardrail: presidio. This entity is not allowed to be used in this request.';
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: null, code: '400' } },
    ]);
    expect(guarded.upstreamRequests()).toEqual([]);
  });

  it('200: a finding below the threshold', async () => {
    reply = (_path, body) => ({ body: findings(body, 'US_SSN', 0.4) });
    expect((await guarded.ask(CHAT, chat('presidio', TEXT))).status).toBe(200);
    expect(guarded.upstreamRequests()[0]?.body).toContain(TEXT);
  });
});

describe('decision_model', () => {
  // The upstream answers each check with the probability 0.9. The default threshold is 0.7.
  it('400: a check above its threshold; 200: a check below it', async () => {
    const blocked = await guarded.ask(CHAT, chat('judge', 'you fool'));
    expect([blocked.status, blocked.body]).toEqual([
      400,
      {
        error: {
          message: 'Violated decision model guardrail policy',
          type: 'invalid_request_error',
          param: null,
          code: '400',
          provider_specific_fields: {
            error: 'Violated decision model guardrail policy',
            guardrail_name: 'judge',
            flagged_checks: ['rude'],
            guardrail_mode: 'pre_call',
          },
        },
      },
    ]);
    // One decision for each of the two messages, and no chat.
    expect(guarded.upstreamRequests().map(({ path }) => path)).toEqual(['/v1/decisions', '/v1/decisions']);
    expect((await guarded.ask(CHAT, chat('strict', 'you fool'))).status).toBe(200);
  });

  it('200: a check that only logs is in the list of runs', async () => {
    const { status, body } = await guarded.ask(CHAT, chat('logs', 'you fool', { include_guardrail_response: true }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      guardrail_information: [
        {
          guardrail_status: 'guardrail_flagged',
          guardrail_response: [{ check: 'rude', probability: 0.9, threshold: 0.7, flagged: true }],
        },
      ],
    });
  });

  it('502, or 200 with fail_open: a decision model that does not exist', async () => {
    const answer = await guarded.ask(CHAT, chat('unreachable', 'hi'));
    expect(answer).toMatchObject(failure(502, 'Decision model guardrail failed to respond'));
    expect((await guarded.ask(CHAT, chat('unreachable-open', 'hi'))).status).toBe(200);
  });
});

describe('a guardrail that cannot run', () => {
  it.each([
    ['foreign', "guardrails of the kind 'lakera' do not run here"],
    ['incomplete', 'api_base: it is needed'],
    ['categories', 'categories: lists of categories are not supported; use blocked_words and patterns'],
  ])('503: calls with the guardrail %s', async (name, fault) => {
    const answer = await guarded.ask(CHAT, chat(name, 'hi'));
    const message = `The guardrail '${name}' cannot run, so the call is refused: ${fault}.`;
    expect(answer).toMatchObject(failure(503, message));
    expect(guarded.upstreamRequests()).toEqual([]);
  });
});

describe('the health of a deployment', () => {
  it('does not change when guardrails block or fail', async () => {
    for (const name of ['unreachable', 'foreign', 'judge']) await guarded.ask(CHAT, chat(name, 'hi'));
    const query = '{ deployments { model health { failures } } }';
    const { body } = await guarded.ask('/graphql', { query });
    expect(JSON.stringify(body)).toContain('"model":"chat","health":{"failures":0}');
  });
});
