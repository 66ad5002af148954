// CPU of the gateway for a decision call with ten questions and for pass-through calls. Prints it in µs, and as a
// multiple of a chat call of the same size. `--dry` makes one round of 1 s to check the script.
//   node bench/call-kinds.ts [--seconds 3] [--rounds 5] [--connections 16] [--dry]
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { load } from './load.ts';
import {
  consumption,
  CORES,
  freePort,
  machine,
  median,
  productCommand,
  type Program,
  start,
  untilReady,
} from './measure.ts';
import { table, verdictOn } from './report.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    dry: { type: 'boolean', default: false },
  },
});
const SECONDS = options.dry ? 1 : Number(options.seconds);
const ROUNDS = options.dry ? 1 : Number(options.rounds);
/** Highest allowed CPU of a kind, as a multiple of a chat call. */
const GOALS: Readonly<Record<string, number>> = { decision: 2, 'pass-through entry': 1.5, 'provider prefix': 1.5 };

const QUESTIONS = Array.from({ length: 10 }, (_unused, index) => ({
  type: 'predicate',
  name: `question_${index}`,
  instructions: `Does the ticket say that part ${index} of the order is late or damaged?`,
}));
const INPUT = 'The customer writes that the parcel is a week late. '.repeat(20);
const decision = JSON.stringify({ model: 'bench-decider', input: INPUT, questions: QUESTIONS });
const chatWith = (content: string): string =>
  JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content }] });
/** A chat request with the same number of bytes as the decision request. */
const chat = chatWith('x'.repeat(decision.length - chatWith('').length));

const KINDS = [
  { name: 'chat', path: '/v1/chat/completions', body: chat },
  { name: 'decision', path: '/v1/decisions', body: decision },
  { name: 'pass-through entry', path: '/forwarded', body: chat },
  { name: 'provider prefix', path: '/openai/v1/chat/completions', body: chat },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'lensgate-call-kinds-'));
const programs: Program[] = [];
const launch = (name: string, command: readonly string[], core: string | null, env = {}): Program => {
  const program = start(name, command, { core, log: join(folder, `${name}.log`), env });
  programs.push(program);
  return program;
};

async function startStage(): Promise<{ readonly origin: string; readonly key: string; readonly program: Program }> {
  const upstreamPort = await freePort();
  const upstream = `http://127.0.0.1:${upstreamPort}`;
  const script = join(import.meta.dirname, 'call-kinds-upstream.ts');
  launch('upstream', [process.execPath, script, String(upstreamPort)], CORES.load);
  await untilReady(upstream);
  const port = await freePort();
  const adminKey = `sk-${randomBytes(24).toString('base64url')}`;
  const config = join(folder, 'config.yaml');
  const params = { api_base: `${upstream}/v1`, api_key: 'sk-upstream' };
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [
        { model_name: 'bench-model', litellm_params: { model: 'openai/bench-model', ...params } },
        { model_name: 'bench-decider', litellm_params: { model: 'openai/bench-decider', ...params } },
      ],
      general_settings: {
        pass_through_endpoints: [{ path: '/forwarded', target: `${upstream}/v1/chat/completions` }],
      },
    }),
  );
  const args = ['--config', config, '--port', String(port), '--host', '127.0.0.1'];
  const env = {
    LENSGATE_DATA_DIR: join(folder, 'data'),
    LENSGATE_CATALOG_REFRESH_SECONDS: '0',
    LITELLM_MASTER_KEY: adminKey,
    OPENAI_API_BASE: upstream,
    OPENAI_API_KEY: 'sk-upstream',
  };
  const program = launch('lensgate', productCommand(args), CORES.server, env);
  const origin = `http://127.0.0.1:${port}`;
  await untilReady(`${origin}/health/readiness`);
  const answer = await fetch(`${origin}/key/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: '{"max_budget":1000000}',
  });
  const { key }: { readonly key?: string } = JSON.parse(await answer.text());
  if (key === undefined) throw new Error(`/key/generate answered ${answer.status} without a key.`);
  return { origin, key, program };
}

try {
  const { origin, key, program } = await startStage();
  const timings = new Map<string, number[]>(KINDS.map(({ name }) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const { name, path, body } of KINDS) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const order = { url: `${origin}${path}`, headers, body, connections: Number(options.connections) };
      const before = consumption(program.pid).cpuNs;
      const report = await load({ ...order, seconds: SECONDS, expectedStatus: 200 }, folder);
      const cpuUs = (consumption(program.pid).cpuNs - before) / 1e3 / report.requests;
      if (report.bad > 0) throw new Error(`${report.bad} of ${report.requests} calls of ${name} failed.`);
      // The first round warms up.
      if (round > 0) timings.get(name)?.push(cpuUs);
    }
  const chatUs = median(timings.get('chat') ?? []);
  const rows = KINDS.map(({ name }) => {
    const all = timings.get(name) ?? [];
    const ratio = median(all) / chatUs;
    const goal = GOALS[name];
    return [
      name,
      median(all).toFixed(0),
      Math.min(...all).toFixed(0),
      ratio.toFixed(2),
      goal === undefined ? '' : `≤ ${goal}×, ${verdictOn(ratio <= goal)}`,
    ];
  });
  console.log(machine().join('\n'));
  console.log(`Bodies of ${chat.length} bytes, ${options.connections} connections, ${ROUNDS} rounds of ${SECONDS} s.`);
  console.log(table(['Kind', 'CPU µs each, median', 'best', 'median over chat', 'goal'], rows));
} finally {
  for (const program of programs.toReversed()) await program.stop();
  rmSync(folder, { recursive: true, force: true });
}
