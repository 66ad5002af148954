import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

/** A Python that has the `mistralai` package. */
const python = process.env['LENSGATE_TEST_PYTHON'] ?? '';
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (python === '') console.warn("SKIPPED: LENSGATE_TEST_PYTHON is not set: Mistral's client is not tested.");

const SCRIPT = fileURLToPath(new URL('clients-mistral.py', import.meta.url));

describe.skipIf(python === '')("Mistral's client for Python", () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp();
  });

  afterAll(() => app.stop());

  it('lists models, embeds texts, chats, and raises errors with their status', async () => {
    const { stdout } = await promisify(execFile)(python, [SCRIPT, app.url, app.adminKey]);
    const answer = JSON.parse(stdout) as { readonly whole: string };
    // The script prints the class, id and object of each model. It embeds `one` and `two`, with one token each.
    expect(answer).toEqual({
      models: [['BaseModelCard', 'demo', 'model']],
      retrieved: 'demo',
      embedded: {
        id: expect.stringMatching(/^embd-[\w-]+$/),
        object: 'list',
        model: 'demo',
        indexes: [0, 1],
        lengths: [256, 256],
        prompt_tokens: 2,
      },
      whole: expect.stringContaining('Hello'),
      streamed: answer.whole,
      unknown_model: 400,
      unknown_key: 401,
    });
  });
});
