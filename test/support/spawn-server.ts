import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { POLLING } from './polling.ts';

/** Server in a child process, started like `npm start`. */
export interface ServerProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Standard output so far. */
  output(): string;
  /** Standard error so far. */
  errors(): string;
  /** Sends a signal. Resolves to the exit code or signal of the process. */
  end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

const ROOT = join(import.meta.dirname, '..', '..');

/** Running processes. A test that times out during a start does not stop its process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Runs the start script in a child process. The start may fail. */
export function spawnMain(args: readonly string[], env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'start.mjs'), ...args], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
      // Disables retention: stored samples are years old.
      AGENT_TRACING_RETENTION_DAYS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

interface SpawnOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/**
 * Starts the server on a free port, or on the port in `args`. Resolves when the server reports that it is ready.
 * Retries while the port of `args` is in use, because a connection of another process may use it for a short time.
 */
export async function spawnServer(dataDir: string, options: SpawnOptions = {}): Promise<ServerProcess> {
  const untilMs = Date.now() + POLLING.timeout;
  for (;;)
    try {
      return await spawnOnce(dataDir, options);
    } catch (error) {
      if (Date.now() > untilMs || !String(error).includes('is in use. Choose another')) throw error;
    }
}

async function spawnOnce(dataDir: string, { args = [], env = {} }: SpawnOptions): Promise<ServerProcess> {
  const child = spawnMain(['--port', '0', ...args], { LENSGATE_DATA_DIR: dataDir, LENSGATE_LOG_LEVEL: 'warn', ...env });
  let output = '';
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      // The output of a start ends with examples after `Try:`, and an empty line.
      const ready = /ready at (http:\S+)[\s\S]*Try:[\s\S]*\n\n$/.exec(output)?.[1];
      if (ready) resolve(ready);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${errors}`)));
  });
  return {
    url,
    process: child,
    output: () => output,
    errors: () => errors,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null)
        return { code: child.exitCode, signal: child.signalCode };
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code, endSignal] = await ended;
      return { code, signal: endSignal };
    },
  };
}
