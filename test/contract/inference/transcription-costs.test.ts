import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from './trace-spans.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'k', input_cost_per_second: 0.5 };
  app = await startApp({
    config: { model_list: [{ model_name: 'writer', litellm_params: { model: 'openai/up', ...params } }] },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const SRT = '1\n00:00:00,000 --> 00:00:01,500\nhello\n\n2\n00:01:00,000 --> 00:01:02,250\nthere\n';
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000 align:start\nhello\n\n01:00:00.000 --> 01:00:02.500\nthere\n';

const PLAIN_TEXT = 'It said 00:00:00,000 --> 00:00:09,000\n';
const UNKNOWN_AUDIO = Buffer.from('sound');
// Audio of 12,345 samples, at 16,000 samples a second. Its duration is rounded to 0.771563 seconds.
const TONE = readFileSync(new URL('../../fixtures/sound/tone.mp3', import.meta.url));

// A second costs 0.5. The last subtitle of `SRT` ends after 62.25 seconds, that of `VTT` after 3,602.5 seconds.
it.each([
  ['srt', UNKNOWN_AUDIO, SRT, '31.125', 'follows the end of the last subtitle'],
  ['vtt', UNKNOWN_AUDIO, VTT, '1801.25', 'follows the end of the last subtitle'],
  ['vtt', UNKNOWN_AUDIO, 'WEBVTT\n', null, 'is unknown without a duration'],
  ['text', UNKNOWN_AUDIO, PLAIN_TEXT, null, 'is unknown without a duration'],
  ['json', UNKNOWN_AUDIO, '{"text":"hello"}', null, 'is unknown without a duration'],
  ['text', TONE, PLAIN_TEXT, '0.3857815', 'follows the duration of the recording'],
  ['srt', TONE, SRT, '0.3857815', 'follows the duration of the recording'],
  ['json', TONE, '{"text":"hello"}', '0.3857815', 'follows the duration of the recording'],
  ['verbose_json', TONE, '{"text":"hello","duration":2}', '1', 'follows the duration in the answer'],
])('transcriptions.create 200: the cost of the format $0 $4 ($3)', async (format, recording, answer, cost, _why) => {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': answer.startsWith('{') ? 'application/json' : 'text/plain' });
    response.end(answer);
  });
  const form = new FormData();
  form.append('model', 'writer');
  form.append('response_format', format);
  form.append('file', new Blob([recording]), 'a.mp3');
  const { traceId, headers } = newTrace();
  const response = await fetch(`${app.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.adminKey}`, ...headers },
    body: form,
  });
  expect([response.status, await response.text()]).toEqual([200, answer]);
  expect(response.headers.get('x-litellm-response-cost')).toBe(cost);
  expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { callType: 'atranscription', costUsd: cost } }]);
});
