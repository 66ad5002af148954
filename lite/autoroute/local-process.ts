import { execFileSync, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { createServer } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure, textOf } from '../failure.ts';
import type { Host } from '../host.ts';
import { ownServer } from '../server/own-server.ts';
import { createClient } from '../server/client.ts';
import { dataFolderOf, type LocalProxy } from './autoroute-files.ts';

/** Time in which the proxy must become ready, in ms. */
const READY_MS = 30_000;
/** Time between two checks of the proxy, of its end and of its log, in ms. */
const CHECK_MS = 200;
/** Time after SIGTERM until SIGKILL, in ms. */
const KILL_AFTER_MS = 5_000;

/** Variables of another server: settings, databases, sign-in and collectors. The local proxy does not read them. */
const OTHER_SERVER =
  /^(?:(?:LENSGATE|LITELLM|REDIS|CLICKHOUSE|STRIPE|JWT|OTEL|UI)_|(?:CONFIG_FILE_PATH|DATABASE_URL|PROXY_BASE_URL|STORE_MODEL_IN_DB)$)/;

export const urlOf = ({ port }: Pick<LocalProxy, 'port'>): string => `http://127.0.0.1:${port}`;

/** Whether a port of the loopback address can be opened. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Whether a process exists. */
function isAlive({ pid }: LocalProxy): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Arguments of a process; null where they cannot be read. */
function argumentsOf(pid: number): string | null {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' });
  } catch {
    return null;
  }
}

/** Whether a proxy runs. Another process may have got the number of an ended proxy, so its arguments are compared. */
export function isRunning(proxy: LocalProxy): boolean {
  if (!isAlive(proxy)) return false;
  return process.platform === 'win32' || (argumentsOf(proxy.pid)?.includes(proxy.configPath) ?? false);
}

/** Starts the proxy as a process of its own, which writes to the log. Throws CommandFailure. */
export async function startLocalProxy(
  host: Host,
  { port, configPath, logPath }: Omit<LocalProxy, 'pid'>,
  variables: Readonly<Record<string, string>>,
): Promise<LocalProxy> {
  const words = ['--host', '127.0.0.1', '--port', String(port), '--config', configPath];
  const { program, words: allWords, environment } = ownServer(host, words);
  const log = openSync(logPath, 'w', 0o600);
  const own = Object.fromEntries(Object.entries(environment).filter(([name]) => !OTHER_SERVER.test(name)));
  try {
    const child = spawn(program, [...allWords], {
      env: { ...own, LENSGATE_DATA_DIR: dataFolderOf(host), ...variables },
      stdio: ['ignore', log, log],
      // Ctrl-C of the terminal ends this command, which then ends the proxy.
      detached: true,
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(new CommandFailure(`The proxy could not be started: ${textOf(error)}`)));
      child.once('spawn', () => resolve(child.pid ?? 0));
    });
    return { pid, port, configPath, logPath };
  } finally {
    closeSync(log);
  }
}

/** Waits until the proxy answers. Throws CommandFailure where it ends or is not ready in time. */
export async function untilReady(proxy: LocalProxy, signal: AbortSignal): Promise<void> {
  const client = createClient(urlOf(proxy), null);
  const end = performance.now() + READY_MS;
  while (!signal.aborted) {
    const isReady = await client.send('GET', '/health/liveliness', { deadlineMs: 1_000, signal }).then(
      () => true,
      () => false,
    );
    // Another program may have taken the port, so the proxy must still run.
    if (!isAlive(proxy)) throw new CommandFailure(`The proxy ended at its start. See ${proxy.logPath}.`);
    if (isReady) return;
    if (performance.now() > end)
      throw new CommandFailure(`The proxy was not ready within ${READY_MS / 1_000} seconds. See ${proxy.logPath}.`);
    await pause(CHECK_MS, signal);
  }
}

/** Waits for a time, at most until the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** Prints new text of the log until the signal aborts or the proxy ends. Returns whether the proxy still runs. */
export async function followLog(host: Host, proxy: LocalProxy, signal: AbortSignal): Promise<boolean> {
  const log = openSync(proxy.logPath, 'r');
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.alloc(65_536);
  let position = 0;
  function printNew(): void {
    while (position < fstatSync(log).size) {
      const size = readSync(log, buffer, 0, buffer.length, position);
      if (size === 0) return;
      position += size;
      host.terminal.write(decoder.write(buffer.subarray(0, size)));
    }
  }
  try {
    while (!signal.aborted) {
      const runs = isAlive(proxy);
      printNew();
      if (!runs) return false;
      await pause(CHECK_MS, signal);
    }
    return true;
  } finally {
    closeSync(log);
  }
}

function sendSignal({ pid }: LocalProxy, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}

/** Ends the proxy with SIGTERM, after `KILL_AFTER_MS` with SIGKILL. Returns whether it ran. */
export async function stopLocalProxy(proxy: LocalProxy): Promise<boolean> {
  if (!isRunning(proxy)) return false;
  sendSignal(proxy, 'SIGTERM');
  const end = performance.now() + KILL_AFTER_MS;
  while (isAlive(proxy) && performance.now() < end) await sleep(CHECK_MS);
  if (isAlive(proxy)) sendSignal(proxy, 'SIGKILL');
  return true;
}
