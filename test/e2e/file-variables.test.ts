import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { spawnServer } from '../support/spawn-server.ts';

const MASTER_KEY = 'sk-of-the-variables-test-1234';

const authorizations: string[] = [];
const upstream = createServer((request, response) => {
  authorizations.push(request.headers.authorization ?? '');
  response.writeHead(503).end('{}');
});
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-variables-'));
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

it('variables of the file resolve references of models; variables of libraries are set in the process', async () => {
  const config = join(folder, 'config.yaml');
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  writeFileSync(
    config,
    `model_list:
  - { model_name: by-reference, litellm_params: { model: openai/m, api_base: ${base}/v1, api_key: os.environ/KEY_OF_FILE } }
  - model_name: by-library
    litellm_params: { model: bedrock/anthropic.claude-3-haiku-20240307-v1:0, aws_bedrock_runtime_endpoint: ${base}, aws_region_name: us-east-1 }
environment_variables:
  LITELLM_MASTER_KEY: ${MASTER_KEY}
  KEY_OF_FILE: sk-key-of-the-file
  AWS_ACCESS_KEY_ID: AKIAOFTHEFILE
  AWS_SECRET_ACCESS_KEY: secret-of-the-file
litellm_settings: { num_retries: 0 }
`,
  );
  // The environment has no LITELLM_MASTER_KEY: the file sets it.
  const server = await spawnServer(join(folder, 'data'), { args: ['--config', config] });
  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
  try {
    for (const model of ['by-reference', 'by-library']) {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });
      // oxlint-disable-next-line no-await-in-loop -- the order of the requests is compared
      const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body });
      expect(answer.status).toBe(503);
    }
    expect(authorizations).toEqual([
      'Bearer sk-key-of-the-file',
      expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIAOFTHEFILE\//),
    ]);
    const shown = await (await fetch(`${server.url}/config/yaml`, { headers })).text();
    expect(shown).toContain('KEY_OF_FILE');
    for (const secret of ['sk-key-of-the-file', 'secret-of-the-file', MASTER_KEY]) expect(shown).not.toContain(secret);
  } finally {
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  }
});
