import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** Result of one command line. */
export interface LiteResult {
  /** Exit code; null after a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
interface RunningLite {
  readonly process: ChildProcess;
  readonly ended: Promise<LiteResult>;
  /** Resolves to the first match of a pattern in stdout. Rejects when the command ends without a match. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** A temporary home folder in which commands run. */
export interface LiteHome {
  readonly folder: string;
  /** Settings file of Claude Code in this home. */
  readonly claudeSettings: string;
  /** Path of a file in `~/.litellm`. */
  file(name: string): string;
  /** Installs a program that prints its arguments and the variables of `PRINTED` as JSON, then ends with `exitCode`. */
  install(name: string, exitCode?: number): void;
  start(words: readonly string[], options?: LiteOptions): RunningLite;
  run(words: readonly string[], options?: LiteOptions): Promise<LiteResult>;
  remove(): void;
}

interface LiteOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Whole text of stdin. */
  readonly input?: string;
  /** Name of the script; `lite` by default. */
  readonly script?: 'lite' | 'litellm-proxy';
}

/** Starts of the names of variables that an installed program prints. */
const PRINTED = ['ANTHROPIC_', 'OPENAI_', 'OPENCODE_', 'ENABLE_TOOL_SEARCH', 'CLAUDE_CODE_'];

const scriptOf = (exitCode: number): string => `#!${process.execPath}
if (process.argv[2] === '--version') {
  console.log(process.argv[1].split('/').at(-1) + '-cli ' + (process.env.PROGRAM_VERSION ?? '0.130.0'));
  process.exit(0);
}
const names = Object.keys(process.env).filter((name) => ${JSON.stringify(PRINTED)}.some((start) => name.startsWith(start)));
const env = Object.fromEntries(names.toSorted().map((name) => [name, process.env[name]]));
process.stdout.write(JSON.stringify({ words: process.argv.slice(2), env }) + '\\n', () => process.exit(${exitCode}));
`;

export function createLiteHome(): LiteHome {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-lite-'));
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  function start(words: readonly string[], { env = {}, input = '', script = 'lite' }: LiteOptions = {}): RunningLite {
    const child = spawn(process.execPath, [join(ROOT, 'scripts', `${script}.mjs`), ...words], {
      cwd: folder,
      env: {
        PATH: [programs, dirname(process.execPath)].join(delimiter),
        HOME: folder,
        CLAUDE_CONFIG_DIR: join(folder, 'claude'),
        BROWSER: 'none',
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    let [stdout, stderr] = ['', ''];
    const watchers = new Set<() => void>();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      for (const watch of watchers) watch();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = new Promise<LiteResult>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
    const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const found = pattern.exec(stdout);
          if (found === null) return;
          watchers.delete(watch);
          resolve(found);
        };
        watchers.add(watch);
        watch();
        void ended.then(({ code }) => reject(new Error(`ended with ${code}: ${stdout}${stderr}`)));
      });
    return { process: child, ended, printed };
  }
  return {
    folder,
    claudeSettings: join(folder, 'claude', 'settings.json'),
    file: (name) => join(folder, '.litellm', name),
    install(name, exitCode = 0) {
      writeFileSync(join(programs, name), scriptOf(exitCode));
      chmodSync(join(programs, name), 0o755);
    },
    start,
    run: (words, options) => start(words, options).ended,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
