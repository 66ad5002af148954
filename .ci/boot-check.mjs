// Checks a first use: `npm start` in a clean copy, the printed calls, SIGTERM, a second start.
//   node .ci/boot-check.mjs COPY DATA_FOLDER
// Runs on Node 20 or newer; ends non-zero at the first failure.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

const [copy, dataDir] = process.argv.slice(2);
const READY_MS = 5_000;
const DRAIN_MS = 10_000;

async function start() {
  const begun = performance.now();
  const npm = spawn('npm', ['start', '--', '--port', '0'], {
    cwd: copy,
    env: { ...process.env, LENSGATE_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A separate process group, so that a failed check can stop the server.
    detached: true,
  });
  process.once('exit', () => {
    try {
      process.kill(-npm.pid, 'SIGKILL');
    } catch {
      // The group has ended already.
    }
  });
  let output = '';
  const exited = once(npm, 'exit');
  await new Promise((resolve, reject) => {
    npm.stdout.on('data', (chunk) => {
      output += chunk;
      // The GraphQL call is the last one of the welcome text.
      if (/\/graphql -H[\s\S]*\n\n/.test(output)) resolve();
    });
    void exited.then(([code]) => reject(new Error(`npm start ended with ${code}:\n${output}`)));
    setTimeout(() => reject(new Error(`not ready within ${4 * READY_MS} ms:\n${output}`)), 4 * READY_MS).unref();
  });
  const url = /ready at (http:\/\/\S+)/.exec(output)[1];
  const readiness = await fetch(`${url}/health/readiness`);
  const readyMs = Math.round(performance.now() - begun);
  assert.equal(readiness.status, 200);
  assert.ok(readyMs < READY_MS, `ready after ${readyMs} ms`);
  console.log(`ready at ${url} after ${readyMs} ms`);
  return { npm, exited, output, url };
}

async function stop({ npm, exited, url }) {
  const begun = performance.now();
  npm.kill('SIGTERM');
  const [code, signal] = await exited;
  const tookMs = Math.round(performance.now() - begun);
  console.log(`stopped after ${tookMs} ms with ${code ?? signal}`);
  assert.ok(tookMs < DRAIN_MS, `drained for ${tookMs} ms`);
  await assert.rejects(fetch(`${url}/health/liveness`), 'the port is closed');
  assert.equal(code, 0);
}

function printedCalls(output) {
  return output
    .split('Try:')[1]
    .replaceAll(/^ {2}/gm, '')
    .split(/\n\n(?=#)/)
    .filter((call) => call.trim() !== '');
}

const answerOf = (call) => JSON.parse(execFileSync('bash', ['-c', call], { encoding: 'utf8' }));

const first = await start();
const [entry, chat, graph] = printedCalls(first.output).map(answerOf);
assert.equal(entry.id, 'gpt-4o');
assert.equal(chat.object, 'chat.completion');
assert.equal(typeof chat.choices[0].message.content, 'string');
assert.equal(graph.errors, undefined);
await stop(first);

const second = await start();
// Only the call of the graph: another chat would add a trace, which would hide the loss of the first one.
const [, , graphCall] = printedCalls(second.output);
const traces = answerOf(graphCall).data.traces.nodes.map(({ name, status, llmCalls }) => ({ name, status, llmCalls }));
assert.deepEqual(
  traces,
  [{ name: 'chat demo', status: 'OK', llmCalls: 1 }],
  'the graph lists the trace of the first run',
);
await stop(second);
