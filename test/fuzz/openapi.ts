import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { spawnServer } from '../support/spawn-server.ts';

// Sends generated requests to every documented operation of a running process. Every response must have a documented
// status other than 500, a documented media type and a valid body.
//   node test/fuzz/openapi.ts PATH-OF-SCHEMATHESIS [--examples 12] [--seed 1] [--seconds 300] [further options of schemathesis]
// The seed and the number of examples determine the requests, so that a run is reproducible on any machine. `--seconds`
// limits the duration of a trial run. A row of docs/routes.md may have equivalent paths: requests use the first one.
// All operations except `LEFT_OUT` are tested.

const [, , program, ...options] = process.argv;
if (program === undefined) throw new Error('Give the path of schemathesis.');

/** Removes an option from the arguments. Returns its value. */
const takeOption = (name: string, otherwise: string): string => {
  const at = options.indexOf(name);
  return at === -1 ? otherwise : (options.splice(at, 2)[1] ?? otherwise);
};
const seconds = takeOption('--seconds', '');
const examples = takeOption('--examples', '12');
const seed = takeOption('--seed', '1');

const ADMIN_KEY = 'sk-fuzz-0123456789abcdef';
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/** Excluded operations: they open a WebSocket, or a stream that does not end. */
const LEFT_OUT = ['realtime.connect', 'responses.connect', 'mcpProtocol.listen'];

const USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
/** Answers of the upstream by path suffix, in the format of OpenAI. The first suffix that matches counts. */
const ANSWERS: Readonly<Record<string, object>> = {
  '/chat/completions': {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'tiny-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello there' }, finish_reason: 'stop' }],
    usage: USAGE,
  },
  '/completions': {
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'tiny-1',
    choices: [{ index: 0, text: 'hello there', finish_reason: 'stop' }],
    usage: USAGE,
  },
  '/embeddings': {
    object: 'list',
    model: 'tiny-1',
    data: [{ object: 'embedding', index: 0, embedding: [0, 1] }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
  '/moderations': { id: 'modr-1', model: 'tiny-1', results: [{ flagged: false, categories: {}, category_scores: {} }] },
  '/ocr': { pages: [{ index: 0, markdown: 'hello there' }], model: 'tiny-1', usage_info: { pages_processed: 1 } },
  '/containers': { id: 'cntr_1', object: 'container', created_at: 1, status: 'running', name: 'box' },
  '/fine_tuning/jobs': {
    id: 'ftjob-1',
    object: 'fine_tuning.job',
    status: 'queued',
    model: 'tiny-1',
    result_files: [],
  },
  '/evals': { id: 'eval_1', object: 'eval', name: 'sums', testing_criteria: [] },
  '/runs': { id: 'evalrun_1', object: 'eval.run', eval_id: 'eval_1', status: 'queued', per_model_usage: null },
  '/rerank': { id: 'rerank-1', results: [{ index: 0, relevance_score: 0.5 }] },
  '/images/generations': { created: 1, data: [{ url: 'http://127.0.0.1/1.png' }] },
  '/images/edits': { created: 1, data: [{ url: 'http://127.0.0.1/1.png' }] },
  '/images/variations': { created: 1, data: [{ url: 'http://127.0.0.1/1.png' }] },
  '/audio/transcriptions': { text: 'hello there' },
  '/audio/translations': { text: 'hello there' },
  '/audio/speech': {},
  '/files': { id: 'file-1', object: 'file', bytes: 1, created_at: 1, filename: 'a.jsonl', purpose: 'batch' },
  '/batches': {
    id: 'batch_1',
    object: 'batch',
    endpoint: '/v1/chat/completions',
    input_file_id: 'file-1',
    completion_window: '24h',
    status: 'in_progress',
    created_at: 1,
  },
};

/** Starts an upstream with one fixed body per endpoint. Other paths get 404. */
function startUpstream() {
  return createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const found = Object.entries(ANSWERS).find(([end]) => path.endsWith(end));
    request.resume().once('end', () => {
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(found?.[1] ?? { error: { message: 'not found', type: 'invalid_request_error' } }));
    });
  }).listen(0, '127.0.0.1');
}

/** Documented statuses above 500 are allowed: they are caused by features that are not configured here. */
const SETTINGS = `
[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "502", "503", "504"]
`;

const folder = mkdtempSync(join(tmpdir(), 'lensgate-fuzz-'));
const upstream = startUpstream();
await once(upstream, 'listening');
const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
const config = join(folder, 'config.yaml');
writeFileSync(
  config,
  stringify({
    model_list: ['up', 'my-model'].map((name) => ({
      model_name: name,
      litellm_params: { model: 'openai/tiny-1', api_base: base, api_key: 'k' },
    })),
    general_settings: { master_key: ADMIN_KEY, demo_model: true, store_model_in_db: true },
  }),
);
writeFileSync(join(folder, 'schemathesis.toml'), SETTINGS);

// Generated models have no address of their own.
const server = await spawnServer(join(folder, 'data'), {
  args: ['--config', config],
  env: { OPENAI_BASE_URL: base },
});
let code: number | null = null;
try {
  const child = spawn(
    program,
    [
      '--config-file',
      join(folder, 'schemathesis.toml'),
      'run',
      `${server.url}/openapi.json`,
      `--header=Authorization: Bearer ${ADMIN_KEY}`,
      `--checks=${CHECKS.join(',')}`,
      '--phases=examples,coverage,fuzzing',
      `--max-examples=${examples}`,
      ...(seconds === '' ? [] : [`--max-time=${seconds}`]),
      `--seed=${seed}`,
      '--request-timeout=20',
      '--workers=1',
      '--generation-database=none',
      '--continue-on-failure',
      '--suppress-health-check=all',
      // Excludes all but the first of the equivalent paths of each row: the ids of the others end with a number.
      String.raw`--exclude-operation-id-regex=\.\d+$`,
      ...LEFT_OUT.map((id) => `--exclude-operation-id=${id}`),
      ...options,
    ],
    { cwd: folder, stdio: ['ignore', 'inherit', 'pipe'] },
  );
  let hasCrashed = false;
  child.stderr.on('data', (bytes: Buffer) => {
    process.stderr.write(bytes);
    hasCrashed ||= bytes.includes('Traceback');
  });
  [code] = (await once(child, 'close')) as [number | null];
  // The tool exits with 0 after a crash of one of its threads, although requests are missing.
  if (hasCrashed) code = 1;
  const alive = await fetch(`${server.url}/health/liveness`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!alive) console.error('The process does not answer any more.');
  if (!alive) code = 1;
} finally {
  const { code: ended } = await server.end('SIGTERM');
  if (ended !== 0) {
    console.error(`The process ended with ${ended}: ${server.errors().slice(-4000)}`);
    code = 1;
  }
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code ?? 1);
