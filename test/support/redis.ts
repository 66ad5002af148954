import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { POLLING } from './polling.ts';
import { assertAnswers } from './test-servers.ts';

/** Command that starts a server, if one is on the path. */
const BINARY = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

/** URL of a running server for tests that share one. Without it, a server is started. */
const SHARED_URL = process.env['LENSGATE_TEST_REDIS_URL'];

const REDIS_PORT = 6379;

export const HAS_REDIS = SHARED_URL !== undefined || BINARY !== undefined;
export const HAS_REDIS_BINARY = BINARY !== undefined;

export const NO_REDIS = 'redis-server and valkey-server are not on the path: tests of Redis are skipped';

if (!HAS_REDIS) console.warn(NO_REDIS);
if (SHARED_URL !== undefined)
  await assertAnswers('LENSGATE_TEST_REDIS_URL', SHARED_URL, ({ hostname, port }) =>
    // The answer to a PING without a password is an error, which is an answer too.
    answerOf(hostname.replaceAll(/[[\]]/g, ''), Number(port || REDIS_PORT)),
  );

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Kills the process. Its data is lost. */
  kill(): Promise<void>;
  /** Restarts the server on the same port, without data. */
  start(): Promise<void>;
  /** Suspends the process: it stops answering, and connections stay open. */
  freeze(): void;
  thaw(): void;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return address.port;
}

/** Starts a server without persistence on a free port. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    if (BINARY === undefined) throw new Error(NO_REDIS);
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const untilMs = Date.now() + POLLING.timeout;
    let started: ChildProcess;
    do {
      started = spawn(BINARY, options, { stdio: 'ignore' });
      child = started;
      while (started.exitCode === null) if (await answers(port)) return;
      // The server has ended, perhaps because a connection of another process used the port. Tries again.
    } while (Date.now() < untilMs);
    throw new Error('The Redis server did not start.');
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    async kill() {
      const running = child;
      child = null;
      if (running === null || running.exitCode !== null) return;
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
}

/** The answer of a server to `PING`. Rejects with a connection error. Has no deadline. */
async function answerOf(host: string, port: number): Promise<string> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const [reply] = (await once(socket, 'data')) as [Buffer];
    return reply.toString();
  } finally {
    socket.destroy();
  }
}

/** Whether a server answers `PING` on a local port. Waits for the answer or a connection error, without a deadline. */
const answers = (port: number): Promise<boolean> =>
  answerOf('127.0.0.1', port).then(
    (reply) => reply.startsWith('+PONG'),
    () => false,
  );

/** Shared server of `LENSGATE_TEST_REDIS_URL`, or a new server. */
export async function anyRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (SHARED_URL !== undefined) return { url: SHARED_URL, stop: () => Promise.resolve() };
  const server = await startRedis();
  return { url: server.url, stop: () => server.kill() };
}
