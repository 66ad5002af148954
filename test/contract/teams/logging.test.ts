import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { envelope, type Json, NO_KEY, chat, tenancyClient } from '../../support/tenancy-client.ts';
import { POLLING } from '../../support/polling.ts';

/** A request that the collector received. */
interface Received {
  readonly url: string;
  readonly authorization: string;
  readonly apiKey: string;
  readonly project: string;
  readonly text: string;
}

const received: Received[] = [];
let collector: Server;
let address = '';
beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers } = request;
      received.push({
        url: String(request.url),
        authorization: String(headers['authorization']),
        apiKey: String(headers['x-api-key']),
        project: String(headers['langsmith-project']),
        text: gunzipSync(Buffer.concat(chunks)).toString('latin1'),
      });
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const socketAddress = collector.address();
  address = `http://127.0.0.1:${typeof socketAddress === 'object' && socketAddress !== null ? socketAddress.port : 0}`;
});
afterAll(() => void collector.close());

const { app, send, post, get, user, key } = tenancyClient({
  config: { general_settings: { demo_model: true }, litellm_settings: { user_url_allowed_hosts: ['127.0.0.1'] } },
});

const VARS = { langfuse_public_key: 'pk-1', langfuse_secret_key: 'sk-langfuse-1' };
const langfuse = (vars: object = {}) => ({
  callback_name: 'langfuse',
  callback_type: 'success',
  callback_vars: { ...VARS, ...vars },
});
async function createTeam(id: string): Promise<void> {
  expect((await post('/team/new', { team_id: id })).status).toBe(200);
}

describe('callbacks of a team', () => {
  it('teamLogging.addCallback 200, teamLogging.get 200, teamLogging.disable 200: the keys of a callback are redacted', async () => {
    await createTeam('log-1');
    const { status, body } = await post('/team/log-1/callback', langfuse({ langfuse_host: 'http://langfuse.test' }));
    const { team_id: id, metadata } = body['data'] as Json;
    const callback_vars = {
      langfuse_public_key: 'REDACTED',
      langfuse_secret_key: 'REDACTED',
      langfuse_host: 'http://langfuse.test',
    };
    expect([status, body['status'], id, metadata]).toEqual([
      200,
      'success',
      'log-1',
      { logging: [{ callback_name: 'langfuse', callback_type: 'success', callback_vars }] },
    ]);
    expect(await get('/team/log-1/callback')).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: { team_id: 'log-1', success_callbacks: ['langfuse'], failure_callbacks: [], callback_vars },
      },
    });
    const data = { team_id: 'log-1', success_callbacks: [], failure_callbacks: [] };
    expect(await send('POST', '/team/log-1/disable_logging')).toEqual({
      status: 200,
      body: { status: 'success', message: 'Logging disabled for team log-1', data },
    });
    expect(await get('/team/log-1/callback')).toEqual({
      status: 200,
      body: { status: 'success', data: { ...data, callback_vars: {} } },
    });
  });

  it('teamLogging.removeCallback 200: only the named callback is removed, and logging is not disabled', async () => {
    await createTeam('log-remove');
    await post('/team/log-remove/callback', langfuse());
    await post('/team/log-remove/callback', {
      callback_name: 'langsmith',
      callback_type: 'failure',
      callback_vars: { langsmith_api_key: 'ls-1' },
    });
    expect(await send('DELETE', '/team/log-remove/callback/langfuse')).toEqual({
      status: 200,
      body: {
        status: 'success',
        message: 'Callback langfuse removed for team log-remove',
        data: { team_id: 'log-remove', success_callbacks: [], failure_callbacks: ['langsmith'] },
      },
    });
    expect((await get('/team/log-remove/callback')).body['data']).toEqual({
      team_id: 'log-remove',
      success_callbacks: [],
      failure_callbacks: ['langsmith'],
      callback_vars: { langsmith_api_key: 'REDACTED' },
    });
    expect((await post('/team/log-remove/callback', langfuse())).status).toBe(200);
    const { body: audit } = await get('/audit?object_id=log-remove&sort_by=updated_at&sort_order=asc');
    expect((audit['audit_logs'] as readonly Json[]).map(({ action }) => action)).toEqual([
      'created',
      ...Array.from({ length: 4 }, () => 'updated'),
    ]);
  });

  it('teamLogging.removeCallback 404: a callback that the team does not have; nothing is removed', async () => {
    await createTeam('log-remains');
    await post('/team/log-remains/callback', langfuse());
    expect(await send('DELETE', '/team/log-remains/callback/langsmith')).toEqual(
      envelope(404, 'callback_name = langsmith is not registered for team_id = log-remains.'),
    );
    expect((await get('/team/log-remains/callback')).body['data']).toMatchObject({ success_callbacks: ['langfuse'] });
  });

  it.each([
    [
      'an unknown kind',
      { callback_name: 'datadog' },
      'Callback datadog is not supported for teams. Supported: langfuse, langfuse_otel, langsmith.',
    ],
    ['a missing variable', { callback_name: 'langsmith' }, 'langsmith needs the variable langsmith_api_key.'],
    [
      'an unknown variable',
      langfuse({ gcs_path: 'x' }),
      'gcs_path is not a variable of langfuse. Variables: langfuse_public_key, langfuse_secret_key, langfuse_host.',
    ],
    [
      'an invalid address',
      langfuse({ langfuse_host: 'http://u:p@x' }),
      'langfuse_host must be an http(s) address without a user, a query or a fragment.',
    ],
  ])('teamLogging.addCallback 400: %s', async (_what, body, message) => {
    await post('/team/new', { team_id: 'log-400' });
    expect(await post('/team/log-400/callback', body)).toEqual(envelope(400, message));
  });

  it('teamLogging.addCallback 400: a callback that the team already has', async () => {
    await createTeam('log-twice');
    expect((await post('/team/log-twice/callback', langfuse())).status).toBe(200);
    expect(await post('/team/log-twice/callback', langfuse())).toEqual(
      envelope(400, 'callback_name = langfuse already exists for team_id = log-twice.'),
    );
  });

  it('teamLogging.addCallback 422: a type that does not exist', async () => {
    const { status, body } = await post('/team/log-1/callback', { ...langfuse(), callback_type: 'never' });
    expect([status, body]).toEqual([
      422,
      {
        detail: [
          {
            type: 'enum',
            loc: ['body', 'callback_type'],
            msg: "Input should be 'success', 'failure' or 'success_and_failure'",
          },
        ],
      },
    ]);
  });

  it('teamLogging.addCallback 404, teamLogging.get 404, teamLogging.disable 404, teamLogging.removeCallback 404: an unknown team', async () => {
    const unknown = envelope(404, 'Team not found, passed team_id=none');
    expect(await post('/team/none/callback', langfuse())).toEqual(unknown);
    expect(await get('/team/none/callback')).toEqual(unknown);
    expect(await send('POST', '/team/none/disable_logging')).toEqual(unknown);
    expect(await send('DELETE', '/team/none/callback/langfuse')).toEqual(unknown);
  });

  it('teamLogging.addCallback 401, teamLogging.get 401, teamLogging.disable 401, teamLogging.removeCallback 401: without a key', async () => {
    expect(await post('/team/log-1/callback', langfuse(), '')).toEqual(NO_KEY);
    expect(await get('/team/log-1/callback', '')).toEqual(NO_KEY);
    expect(await send('POST', '/team/log-1/disable_logging', undefined, '')).toEqual(NO_KEY);
    expect(await send('DELETE', '/team/log-1/callback/langfuse', undefined, '')).toEqual(NO_KEY);
  });

  it('teamLogging.addCallback 403, teamLogging.get 403, teamLogging.disable 403, teamLogging.removeCallback 403: a change by a read-only administrator, a key without the route; 401: a member of the team', async () => {
    const [boss, member] = [await user({ user_id: 'boss' }), await user({ user_id: 'member' })];
    await post('/team/new', {
      team_id: 'log-access',
      members_with_roles: [
        { role: 'admin', user_id: 'boss' },
        { role: 'user', user_id: 'member' },
      ],
    });
    expect((await post('/team/log-access/callback', langfuse(), boss)).status).toBe(200);
    expect((await get('/team/log-access/callback', boss)).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', 'callback', langfuse()],
      ['GET', 'callback', undefined],
      ['POST', 'disable_logging', undefined],
      ['DELETE', 'callback/langfuse', undefined],
    ] as const) {
      const answer = await send(method, `/team/log-access/${path}`, body, member);
      expect([path, answer.status]).toEqual([path, 401]);
    }
    const restricted = await key({ allowed_routes: ['/v1/models'] });
    expect((await get('/team/log-access/callback', restricted)).status).toBe(403);
    const viewer = await user({ user_id: 'log-viewer', user_role: 'proxy_admin_viewer' });
    expect((await get('/team/log-access/callback', viewer)).status).toBe(200);
    expect((await post('/team/log-access/callback', langfuse(), viewer)).status).toBe(403);
    expect((await send('POST', '/team/log-access/disable_logging', undefined, viewer)).status).toBe(403);
    expect(await send('DELETE', '/team/log-access/callback/langfuse', undefined, viewer)).toEqual(
      envelope(403, 'user not allowed to access this route, role= proxy_admin_viewer.', 'auth_error', 'None'),
    );
    expect((await send('DELETE', '/team/log-access/callback/langfuse', undefined, boss)).status).toBe(200);
    expect((await send('POST', '/team/log-access/disable_logging', undefined, boss)).status).toBe(200);
  });

  it('receive the calls of only their team, until logging is disabled', async () => {
    await createTeam('log-live');
    await createTeam('log-other');
    const [ownKey, otherKey] = [await key({ team_id: 'log-live' }), await key({ team_id: 'log-other' })];
    await post('/team/log-live/callback', langfuse({ langfuse_host: `${address}/` }));
    const langsmith = { langsmith_api_key: 'ls-1', langsmith_project: 'p1', langsmith_base_url: address };
    await post('/team/log-live/callback', { callback_name: 'langsmith', callback_vars: langsmith });
    expect((await post('/v1/chat/completions', chat(), otherKey)).status).toBe(200);
    expect((await post('/v1/chat/completions', chat(), ownKey)).status).toBe(200);
    await expect.poll(() => received.length, POLLING).toBe(2);
    expect(received.map(({ url }) => url).toSorted()).toEqual(['/api/public/otel/v1/traces', '/otel/v1/traces']);
    const basic = `Basic ${Buffer.from('pk-1:sk-langfuse-1').toString('base64')}`;
    for (const { url, authorization, apiKey, project, text } of received) {
      const isLangfuse = url.startsWith('/api');
      expect([authorization, apiKey, project]).toEqual(
        isLangfuse ? [basic, 'undefined', 'undefined'] : ['undefined', 'ls-1', 'p1'],
      );
      expect([text.includes('log-live'), text.includes('log-other')]).toEqual([true, false]);
    }
    // Two destinations, each with one span.
    await expect
      .poll(async () => await (await fetch(`${app().url}/metrics`)).text(), POLLING)
      .toMatch(/^lensgate_team_exported_spans_total\{outcome="sent"\} 2$/m);
    expect(await (await fetch(`${app().url}/metrics`)).text()).toContain('lensgate_team_export_waiting_spans 0');
    received.length = 0;
    expect((await send('POST', '/team/log-live/disable_logging')).status).toBe(200);
    expect((await post('/v1/chat/completions', chat(), ownKey)).status).toBe(200);
    await createTeam('log-marker');
    // The marker has the same destination: a span of the disabled team would arrive no later.
    await post('/team/log-marker/callback', langfuse({ langfuse_host: `${address}/` }));
    expect((await post('/v1/chat/completions', chat(), await key({ team_id: 'log-marker' }))).status).toBe(200);
    await expect.poll(() => received.length, POLLING).toBe(1);
    expect([received[0]?.text.includes('log-marker'), received[0]?.text.includes('log-live')]).toEqual([true, false]);
  });
});

describe('callbacks in the metadata of a team', () => {
  const SEND_AGAIN = 'A changed callback needs its secrets again. A redacted secret is refused.';
  const hidden = { langfuse_public_key: 'REDACTED', langfuse_secret_key: 'REDACTED' };
  const update = (id: string, logging: unknown) => post('/team/update', { team_id: id, metadata: { logging } });
  const entry = (vars: object, members: object = {}) => ({
    callback_name: 'langfuse',
    callback_vars: vars,
    ...members,
  });

  it('keep a redacted secret only if the name and the address of the callback are unchanged', async () => {
    await createTeam('log-kept');
    expect((await post('/team/log-kept/callback', langfuse({ langfuse_host: 'http://mine.test' }))).status).toBe(200);
    const [own, theirs] = [
      { ...hidden, langfuse_host: 'http://mine.test' },
      { ...hidden, langfuse_host: 'http://theirs.test' },
    ];
    for (const logging of [
      [entry(theirs)],
      [entry(theirs, { callback_type: 'none' })],
      [entry(own, { callback_name: 'langfuse_otel' })],
      [entry({ ...hidden })],
      [entry(own), entry(own)],
    ])
      expect(await update('log-kept', logging)).toEqual(envelope(400, SEND_AGAIN));
    expect(await update('log-kept', { 0: entry(theirs) })).toEqual(
      envelope(400, 'logging must be a list of callbacks.'),
    );
    expect((await update('log-kept', [entry(own, { callback_type: 'failure' })])).status).toBe(200);
    const { body } = await get('/team/log-kept/callback');
    expect(body).toEqual({
      status: 'success',
      data: { team_id: 'log-kept', success_callbacks: [], failure_callbacks: ['langfuse'], callback_vars: own },
    });
  });

  it('are limited and validated like callbacks that the callback route adds', async () => {
    await createTeam('log-bounds');
    const wrong = 'langfuse_host must be an http(s) address without a user, a query or a fragment.';
    expect(await update('log-bounds', [entry({ ...VARS, langfuse_host: 'ftp://x' })])).toEqual(envelope(400, wrong));
    expect(
      await update(
        'log-bounds',
        Array.from({ length: 9 }, () => entry(VARS)),
      ),
    ).toEqual(envelope(400, 'A team has at most 8 callbacks.'));
    const longSecret = { ...VARS, langfuse_secret_key: 'x'.repeat(4_097) };
    const tooLong = envelope(400, 'langfuse_secret_key has more than 4096 characters.');
    expect(await update('log-bounds', [entry(longSecret)])).toEqual(tooLong);
    expect(await post('/team/log-bounds/callback', langfuse(longSecret))).toEqual(tooLong);
    expect(await post('/team/log-bounds/callback', langfuse({ constructor: 'x' }))).toEqual(
      envelope(
        400,
        'constructor is not a variable of langfuse. Variables: langfuse_public_key, langfuse_secret_key, langfuse_host.',
      ),
    );
    // This secret looks like one that the store has encrypted.
    const spoofed = { ...VARS, langfuse_secret_key: 'sealed:AAAA' };
    expect(await update('log-bounds', [entry(spoofed)])).toEqual(envelope(400, SEND_AGAIN));
    expect(await post('/team/new', { team_id: 'log-none', metadata: { logging: [entry(hidden)] } })).toEqual(
      envelope(400, SEND_AGAIN),
    );
  });

  it('receive the calls of their team', async () => {
    received.length = 0;
    await post('/team/new', {
      team_id: 'log-written',
      metadata: { logging: [entry({ ...VARS, langfuse_host: address }), entry({}, { callback_name: 'datadog' })] },
    });
    expect((await post('/v1/chat/completions', chat(), await key({ team_id: 'log-written' }))).status).toBe(200);
    await expect.poll(() => received.length, POLLING).toBe(1);
    const basic = `Basic ${Buffer.from('pk-1:sk-langfuse-1').toString('base64')}`;
    expect([received[0]?.authorization, received[0]?.text.includes('log-written')]).toEqual([basic, true]);
  });
});
