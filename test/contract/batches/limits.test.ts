import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, configOver, serveFiles, lineFor, newKey, send, upload } from '../files/file-client.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({ config: configOver(upstream) });
});
beforeEach(() => serveFiles(upstream));
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Estimated tokens of one line: one token for four bytes of its body. */
const LINE_TOKENS = Math.ceil(JSON.stringify({ model: 'assistant', messages: [] }).length / 4);

const linesOf = (count: number, model = 'assistant'): string => `${lineFor(model)}\n`.repeat(count);

/** Uploads a file with this content, and starts a batch of it. */
async function startBatch(key: string, content: string, headers: Record<string, string> = {}) {
  return startBatchOfFile(key, (await upload(app, { purpose: 'batch' }, { key, content })).id, headers);
}

async function startBatchOfFile(key: string, fileId: string, headers: Record<string, string> = {}) {
  const body = { input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const answer = await send(app, 'POST', '/v1/batches', {
    key,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
}

const refusal = (messagePart: string) => ({
  error: {
    message: expect.stringContaining(messagePart) as string,
    type: 'throttling_error',
    param: null,
    code: '429',
  },
});

describe('limits of batches', () => {
  it('a batch counts all of its requests', async () => {
    // The upload and the three lines of each batch are four requests.
    const key = await newKey(app, { rpm_limit: 5 });
    expect((await startBatch(key, linesOf(3))).status).toBe(200);
    const second = await startBatch(key, linesOf(3));
    expect([second.status, second.body]).toEqual([429, refusal('Limit type: requests. Current limit: 5')]);
  });

  it('a batch counts all of its tokens, and a refused batch counts none', async () => {
    const key = await newKey(app, { tpm_limit: 5 * LINE_TOKENS });
    expect((await startBatch(key, linesOf(4))).status).toBe(200);
    const second = await startBatch(key, linesOf(2));
    expect([second.status, second.body]).toEqual([429, refusal('Limit type: tokens')]);
    expect((await startBatch(key, linesOf(1))).status).toBe(200);
  });

  it('a limit of a model counts the lines with the model, and the limit of a key replaces that of its team', async () => {
    const team = { team_id: 'batches', metadata: { model_rpm_limit: { assistant: 4 } } };
    await app.call('POST', '/team/new', team);
    const keyWithLimit = await newKey(app, { team_id: 'batches', metadata: { model_rpm_limit: { assistant: 11 } } });
    const keyWithoutLimit = await newKey(app, { team_id: 'batches' });
    // An upload counts as a request.
    // Calls of a key with its own limit for the model do not count in the team limit.
    expect((await startBatch(keyWithLimit, linesOf(8))).status).toBe(200);
    expect((await startBatch(keyWithoutLimit, linesOf(2) + linesOf(5, 'second'))).status).toBe(200);
    const third = await startBatch(keyWithoutLimit, linesOf(2));
    expect([third.status, third.body]).toEqual([429, refusal(':assistant. Limit type: requests. Current limit: 4')]);
    const fourth = await startBatch(keyWithLimit, linesOf(2));
    expect([fourth.status, fourth.body]).toEqual([429, refusal('model_per_key')]);
  });

  it.each([
    { what: 'no limit of its own is refused by the team’s limit of requests', ownLimits: [], refusedIn: 'requests' },
    {
      what: 'its own limit of requests is refused by the team’s limit of tokens',
      ownLimits: ['requests'],
      refusedIn: 'tokens',
    },
    {
      what: 'its own limit of tokens is refused by the team’s limit of requests',
      ownLimits: ['tokens'],
      refusedIn: 'requests',
    },
    { what: 'its own limits of requests and tokens is accepted', ownLimits: ['requests', 'tokens'], refusedIn: null },
  ])('after the team limits of a model are used up, a batch of a key with $what', async (limitCase) => {
    const { ownLimits, refusedIn }: { ownLimits: readonly string[]; refusedIn: string | null } = limitCase;
    const team_id = `pool-${ownLimits.join('-')}`;
    // Uploads of `keyWithoutLimit` count as requests in the team limit.
    // So do uploads of `key`, unless it has its own limit of requests.
    // A batch of four lines and these uploads use up the team limits.
    const teamLimits = { requests: ownLimits.includes('requests') ? 5 : 6, tokens: 4 * LINE_TOKENS };
    const limits = {
      model_rpm_limit: { assistant: teamLimits.requests },
      model_tpm_limit: { assistant: teamLimits.tokens },
    };
    await app.call('POST', '/team/new', { team_id, metadata: limits });
    const metadata = {
      ...(ownLimits.includes('requests') ? { model_rpm_limit: { assistant: 50 } } : {}),
      ...(ownLimits.includes('tokens') ? { model_tpm_limit: { assistant: 50 * LINE_TOKENS } } : {}),
    };
    const [key, keyWithoutLimit] = [await newKey(app, { team_id, metadata }), await newKey(app, { team_id })];
    const { id } = await upload(app, { purpose: 'batch' }, { key, content: linesOf(1) });
    expect((await startBatch(keyWithoutLimit, linesOf(4))).status).toBe(200);
    const { status, body } = await startBatchOfFile(key, id);
    const limit = refusedIn === 'requests' ? teamLimits.requests : teamLimits.tokens;
    const text = `model_per_team: ${team_id}:assistant. Limit type: ${refusedIn}. Current limit: ${limit}, Remaining: 0`;
    const { error } = refusal(text);
    expect({ status, object: body['object'], error: body['error'] }).toEqual({
      status: refusedIn === null ? 200 : 429,
      object: refusedIn === null ? 'batch' : undefined,
      error: refusedIn === null ? undefined : error,
    });
  });

  it('tpd_limit of a key, its tokens per day, replaces its limits per minute', async () => {
    const key = await newKey(app, { tpd_limit: 10 * LINE_TOKENS, rpm_limit: 3, tpm_limit: 1 });
    expect((await startBatch(key, linesOf(6))).status).toBe(200);
    const second = await startBatch(key, linesOf(5));
    expect([second.status, second.body]).toEqual([
      429,
      refusal(`Limit type: tokens per day. Current limit: ${10 * LINE_TOKENS}, Remaining: ${4 * LINE_TOKENS}`),
    ]);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await startBatch(key, linesOf(4))).status).toBe(200);
  });

  it('tpd_limit of a team applies to all of its keys', async () => {
    await app.call('POST', '/team/new', { team_id: 'daily', tpd_limit: 3 * LINE_TOKENS });
    const [firstKey, secondKey] = [await newKey(app, { team_id: 'daily' }), await newKey(app, { team_id: 'daily' })];
    expect((await startBatch(firstKey, linesOf(2))).status).toBe(200);
    expect((await startBatch(secondKey, linesOf(2))).body).toEqual(refusal('team: daily'));
  });

  it('tpd_limit of a customer applies to all of its batches', async () => {
    await app.call('POST', '/customer/new', { user_id: 'daily', tpd_limit: LINE_TOKENS });
    const key = await newKey(app, {});
    const customerHeader = { 'x-litellm-customer-id': 'daily' };
    expect((await startBatch(key, linesOf(1), customerHeader)).status).toBe(200);
    expect((await startBatch(key, linesOf(1), customerHeader)).body).toEqual(refusal('end_user: daily'));
  });

  it('a batch that fails at the upstream counts no tokens', async () => {
    const key = await newKey(app, { tpd_limit: 2 * LINE_TOKENS });
    const { id } = await upload(app, { purpose: 'batch' }, { key, content: linesOf(2) });
    const body = JSON.stringify({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' });
    const create = () => send(app, 'POST', '/v1/batches', { key, body });
    upstream.answer((response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"broken"}}');
    });
    expect((await create()).status).toBe(500);
    serveFiles(upstream);
    expect((await create()).status).toBe(200);
    expect((await create()).status).toBe(429);
  });

  it('batch_enqueued_token_limit counts batches that have not ended; the refusal has no Retry-After', async () => {
    const key = await newKey(app, { metadata: { batch_enqueued_token_limit: 4 * LINE_TOKENS } });
    const first = await startBatch(key, linesOf(3));
    expect(first.status).toBe(200);
    const second = await startBatch(key, linesOf(2));
    expect([second.status, second.body, second.headers.get('retry-after')]).toEqual([
      429,
      refusal(`Current limit: ${4 * LINE_TOKENS}, enqueued: ${3 * LINE_TOKENS}, requested: ${2 * LINE_TOKENS}`),
      null,
    ]);
    serveFiles(upstream, { status: 'cancelled' });
    expect(await answerOf(await send(app, 'GET', `/v1/batches/${String(first.body['id'])}`, { key }))).toMatchObject([
      200,
      { status: 'cancelled' },
    ]);
    serveFiles(upstream);
    expect((await startBatch(key, linesOf(2))).status).toBe(200);
  });

  it('batch_enqueued_token_limit counts batches that are started at the same time', async () => {
    const key = await newKey(app, { metadata: { batch_enqueued_token_limit: 5 * LINE_TOKENS } });
    const upload3 = async (): Promise<string> =>
      (await upload(app, { purpose: 'batch' }, { key, content: linesOf(3) })).id;
    const files = [await upload3(), await upload3(), await upload3()];
    const statuses = (await Promise.all(files.map((file) => startBatchOfFile(key, file)))).map(({ status }) => status);
    expect(statuses.toSorted((left, right) => left - right)).toEqual([200, 429, 429]);
    // Refused batches do not count: there is still room for two lines.
    expect((await startBatch(key, linesOf(3))).body).toEqual(refusal(`enqueued: ${3 * LINE_TOKENS}`));
    expect((await startBatch(key, linesOf(2))).status).toBe(200);
  });

  it('batch_enqueued_token_limit and tpd_limit of a key count the batches of its sessions together', async () => {
    const user = { user_id: 'batcher', user_role: 'internal_user' };
    expect((await app.call('POST', '/user/new', user)).status).toBe(200);
    async function sessionsOf(draft: object): Promise<readonly [string, string]> {
      const key = await newKey(app, { user_id: 'batcher', ...draft });
      const open = async (): Promise<string> => {
        const sent = { username: 'batcher', password: key };
        const answer = await app.call('POST', '/v2/login', sent, { authorization: '' });
        return ((await answer.json()) as { readonly token: string }).token;
      };
      return [await open(), await open()];
    }
    const limit = 4 * LINE_TOKENS;
    const [first, second] = await sessionsOf({ metadata: { batch_enqueued_token_limit: limit } });
    expect((await startBatch(first, linesOf(3))).status).toBe(200);
    const refused = await startBatch(second, linesOf(2));
    expect([refused.status, refused.body]).toEqual([429, refusal(`enqueued: ${3 * LINE_TOKENS}`)]);
    // The session ends, but its batch has not ended.
    const key = createHash('sha256').update(first).digest('hex');
    expect((await app.call('POST', '/key/delete', { keys: [key] })).status).toBe(200);
    expect((await startBatch(second, linesOf(2))).body).toEqual(refusal(`enqueued: ${3 * LINE_TOKENS}`));
    const [third, fourth] = await sessionsOf({ tpd_limit: limit });
    expect((await startBatch(third, linesOf(3))).status).toBe(200);
    expect((await startBatch(fourth, linesOf(2))).body).toEqual(refusal('Limit type: tokens per day.'));
  });
});
