import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/domain/version.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import type { Json } from '../../support/tenancy-client.ts';

const REGISTER = '/lens/workers/register';
const CLAIM = `/lens/worker/claim?protocol_version=7&worker_release=${VERSION}`;
const SERVICE_TOKEN = 'token-of-the-trace-service-0123456789';

/** Starts the app, with a key that pays. `env` configures the trace service. */
async function started(env: Record<string, string>) {
  const app: TestApp = await startApp({ env });
  const send = async (method: string, path: string, body?: unknown, token = app.adminKey) => {
    const answer = await app.call(method, path, body, { authorization: `Bearer ${token}` });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  const { body } = await send('POST', '/key/generate', {});
  return { app, send, hash: String(body['token']) };
}

describe('lens.registerWorker: managed workers, which send the token of the trace service', () => {
  it('lens.registerWorker 503: no trace service is configured', async () => {
    const { app, send, hash } = await started({});
    try {
      expect(await send('POST', REGISTER, { analysis_key_id: hash, managed: true })).toEqual({
        status: 503,
        body: { detail: 'Configure the Lens service connection' },
      });
    } finally {
      await app.stop();
    }
  });

  it('lens.registerWorker 200: without a token of its own, and with the same id when it is registered again', async () => {
    const { app, send, hash } = await started({ LITELLM_LENS_SERVICE_TOKEN: SERVICE_TOKEN });
    try {
      expect((await send('POST', CLAIM, undefined, SERVICE_TOKEN)).status).toBe(401);
      const first = await send('POST', REGISTER, { analysis_key_id: hash, managed: true });
      const worker = first.body['worker'] as Json;
      const { body: generated } = await send('POST', '/key/generate', {});
      expect(first).toEqual({
        status: 200,
        body: {
          worker: {
            id: expect.any(String),
            name: 'Lens worker',
            scope: { team_id: '', api_key_hash: '', all_teams: true },
            last_seen: '1970-01-01T00:00:00.000Z',
            revoked: false,
            analysis_key_id: hash,
          },
          token: '',
          image: `lensgate:${VERSION}`,
          managed: true,
        },
      });
      expect(await send('POST', CLAIM, undefined, SERVICE_TOKEN)).toEqual({ status: 200, body: null });
      expect((await send('DELETE', `/lens/workers/${String(worker['id'])}`)).status).toBe(200);
      expect((await send('POST', CLAIM, undefined, SERVICE_TOKEN)).status).toBe(401);
      const other = { name: 'near', analysis_key_id: generated['token'], managed: true };
      expect((await send('POST', REGISTER, other)).body['worker']).toMatchObject({
        id: worker['id'],
        name: 'near',
        revoked: false,
        analysis_key_id: generated['token'],
      });
      expect(await send('POST', CLAIM, undefined, SERVICE_TOKEN)).toEqual({ status: 200, body: null });
    } finally {
      await app.stop();
    }
  });
});

it('lens.registerWorker 200: registrations of a managed worker at the same time register one worker', async () => {
  const { app, send, hash } = await started({ LITELLM_LENS_SERVICE_TOKEN: SERVICE_TOKEN });
  try {
    const body = { analysis_key_id: hash, managed: true };
    const answers = await Promise.all([1, 2, 3, 4].map(() => send('POST', REGISTER, body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map((answer) => (answer.body['worker'] as Json)['id'])).size).toBe(1);
  } finally {
    await app.stop();
  }
});

it('lens.registerWorker 400: the key of a session of the dashboard', async () => {
  const { app, send } = await started({});
  try {
    const login = await fetch(`${app.url}/login`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ username: 'admin', password: app.adminKey }),
    });
    const [, session = ''] = /lensgate_session=(sk-[^;]+)/.exec(login.headers.get('set-cookie') ?? '') ?? [];
    expect(session).not.toBe('');
    const hash = createHash('sha256').update(session).digest('hex');
    expect(await send('POST', REGISTER, { analysis_key_id: hash })).toEqual({
      status: 400,
      body: { detail: 'Choose an active virtual key for Lens analysis' },
    });
  } finally {
    await app.stop();
  }
});
