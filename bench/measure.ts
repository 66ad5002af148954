import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '..');

const START = 'scripts/start.mjs';

/**
 * Command of `npm start` without npm. With a preloaded module, the command runs the sources: a bundle has no modules to
 * replace.
 */
export function productCommand(
  args: readonly string[],
  { preload = null, root = ROOT }: { readonly preload?: string | null; readonly root?: string } = {},
): readonly string[] {
  const { scripts }: { readonly scripts: { readonly start: string } } = createRequire(import.meta.url)(
    '../package.json',
  );
  if (!scripts.start.endsWith(START)) throw new Error(`The start of the product does not run ${START}.`);
  const command = preload === null ? scripts.start : scripts.start.replace(START, `--import ${preload} src/main.ts`);
  // The shell gets `root` as `$0`, and the arguments as `$@`.
  const line = `cd "$0" && export PATH="$PWD/node_modules/.bin:$PATH" && ${command} "$@"`;
  return ['sh', '-c', line, root, ...args];
}

/** A measured program; `stop` ends this process only. */
export interface Program {
  readonly name: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** CPU so far and current memory of a process and its descendants. */
export interface Consumption {
  /** On-CPU time in nanoseconds. */
  readonly cpuNs: number;
  /** Resident bytes. */
  readonly rss: number;
}

/** Whether a command is on the path. */
export function hasCommand(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
}

const undici: { readonly version: string } = createRequire(import.meta.url)('undici/package.json');
const loadBefore = loadavg()[0] ?? 0;
const BINDER = 'taskset';
const pinning = hasCommand(BINDER) && cpus().length > 1;

/** Cores of load and upstream, and of the measured server; null when pinning is not possible. */
export const CORES = pinning ? { load: '0', server: '1', both: '0,1' } : { load: null, server: null, both: null };

/** A command pinned to the given cores; unchanged for null. */
export function pinned(core: string | null, command: readonly string[]): readonly [string, ...string[]] {
  const [first = '', ...rest] = command;
  return core === null ? [first, ...rest] : [BINDER, '-c', core, first, ...rest];
}

/** Starts a program with its output in a file. */
export function start(
  name: string,
  command: readonly string[],
  options: { readonly core: string | null; readonly log: string; readonly env?: Readonly<Record<string, string>> },
): Program {
  const output = openSync(options.log, 'a');
  const [file, ...args] = pinned(options.core, command);
  const child = spawn(file, args, { stdio: ['ignore', output, output], env: { ...process.env, ...options.env } });
  if (child.pid === undefined) throw new Error(`${name} could not be started: ${command.join(' ')}`);
  killAtExit(child);
  return { name, pid: child.pid, stop: () => stop(child) };
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const { pid } of running)
    for (const member of pid === undefined ? [] : family(pid).toReversed())
      try {
        process.kill(member, 'SIGKILL');
      } catch {
        // The process has ended already.
      }
});

/** Kills a child and its descendants when this process ends before the child, for example after an error. */
export function killAtExit(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Ends a child, which is killed when it does not end after SIGTERM. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 12_000);
  await exited;
  clearTimeout(killTimer);
}

/** Runs a program; throws with its output when it fails. */
export async function run(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command.slice(0, 6).join(' ')} ended with ${code}: ${errors || output}`);
  return output;
}

const listed = (path: string): readonly string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

const content = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Ids of a process and of its descendants. */
function family(pid: number): readonly number[] {
  const children = listed(`/proc/${pid}/task`).flatMap((task) =>
    content(`/proc/${pid}/task/${task}/children`).trim().split(/\s+/).filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(family)];
}

/** Pins each thread of a process and its descendants to `coreOf` of its name; null leaves the thread as it is. */
export function pinThreads(pid: number, coreOf: (thread: string) => string | null): void {
  for (const member of family(pid))
    for (const task of listed(`/proc/${member}/task`)) {
      const core = coreOf(content(`/proc/${member}/task/${task}/comm`).trim());
      if (core !== null) spawnSync(BINDER, ['-cp', core, task]);
    }
}

/** Reads the kernel's counters of a process and its descendants. */
export function consumption(pid: number): Consumption {
  let cpuNs = 0;
  let rss = 0;
  for (const member of family(pid)) {
    for (const task of listed(`/proc/${member}/task`))
      cpuNs += Number(content(`/proc/${member}/task/${task}/schedstat`).split(' ')[0] ?? 0);
    rss += Number(/^VmRSS:\s+(\d+)/m.exec(content(`/proc/${member}/status`))?.[1] ?? 0) * 1024;
  }
  return { cpuNs, rss };
}

/** Sum of the peak resident bytes of a process and its descendants. */
export function peakResident(pid: number): number {
  const peaks = family(pid).map((member) => /^VmHWM:\s+(\d+)/m.exec(content(`/proc/${member}/status`))?.[1] ?? 0);
  return peaks.reduce<number>((total, kib) => total + Number(kib), 0) * 1024;
}

/** A free loopback port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('No port was free.');
  return address.port;
}

/** Whether a URL is answered 2xx, with the whole body, within a second. */
async function isAnswered(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

/** Polls until the status is 2xx; returns the time in ms. Throws after `timeoutMs`. */
export async function untilReady(url: string, timeoutMs = 30_000): Promise<number> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < timeoutMs) {
    if (await isAnswered(url)) return performance.now() - startedAt;
    await after(2);
  }
  throw new Error(`${url} did not answer within ${timeoutMs} ms.`);
}

/** Median; the lower middle value of an even number of values. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
}

/** First line of a command's version text; empty when the command is missing. */
function versionOf(command: string): readonly string[] {
  if (!hasCommand(command)) return [];
  const { stdout, stderr } = spawnSync(command, ['-v'], { encoding: 'utf8' });
  return [`${stderr}${stdout}`.trim().split('\n')[0] ?? command];
}

/** Hardware, kernel and versions of the run. */
export function machine(): readonly string[] {
  const versions = [`Node ${process.versions.node}`, `undici ${undici.version}`];
  versions.push(...versionOf('nginx'), ...versionOf('wrk'));
  return [
    `- ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${pinning ? 'load and upstream pinned to core 0, the server under test alone on core 1' : 'nothing pinned'}`,
    `- ${process.platform} ${content('/proc/sys/kernel/osrelease').trim()}; ${versions.join('; ')}`,
    `- load average before the run: ${loadBefore.toFixed(1)}${loadBefore > 0.5 ? '; other work shared these cores, so ratios are rough and tails mean little' : ''}`,
  ];
}
