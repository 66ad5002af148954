import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

/** A Python that has the `openai` package. */
const python = process.env['LENSGATE_TEST_PYTHON'] ?? '';
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (python === '') console.warn('SKIPPED: LENSGATE_TEST_PYTHON is not set: no Python client is tested.');

const SCRIPT = fileURLToPath(new URL('clients-python.py', import.meta.url));

describe.skipIf(python === '')('the official client for Python', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp();
  });

  afterAll(() => app.stop());

  it('reads responses, chats at the IDE route, and raises errors of the matching classes', async () => {
    const { stdout } = await promisify(execFile)(python, [SCRIPT, app.url, app.adminKey]);
    const { responded, chatted, ...refused } = JSON.parse(stdout) as {
      readonly responded: { readonly whole: string };
      readonly chatted: string;
    };
    expect(responded.whole).not.toBe('');
    expect(responded).toEqual({
      whole: responded.whole,
      streamed: responded.whole,
      first: 'response.created',
      last: 'response.completed',
      usage: true,
    });
    expect(chatted).toBe(responded.whole);
    expect(refused).toEqual({
      unknown_model: ['BadRequestError', 400],
      // The script asks for `resp_nothing`, which does not have the format of the gateway's ids.
      // An unknown id in that format gets 404.
      unknown_response: ['PermissionDeniedError', 403],
    });
  });
});
