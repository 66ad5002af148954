import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { constants as system } from 'node:os';
import { delimiter, join } from 'node:path';
import { CommandFailure, Ended, textOf } from '../failure.ts';
import type { Environment } from './agents.ts';

/** Exit code of a program that a signal ended: this number plus the number of the signal. */
const SIGNAL_BASE = 128;
/** Signals that this process forwards to the program. Ctrl-C is not forwarded: the terminal sends it to both. */
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Path of a program in the folders of PATH; null for none. */
export function findProgram(environment: Environment, name: string): string | null {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(Boolean);
  const paths = folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending)));
  return paths.find(isProgram) ?? null;
}

/**
 * Runs a program in the terminal of this process until it ends. Throws Ended with its exit code, or with 128 and the
 * number of the signal that ended it.
 */
export async function runProgram(program: string, words: readonly string[], environment: Environment): Promise<never> {
  const needsShell = /\.(?:cmd|bat)$/i.test(program);
  if (needsShell && words.some((word) => /["%\r\n!^&|<>]/.test(word)))
    throw new CommandFailure(`An argument has a character that cannot be passed to ${program} on Windows.`);
  const command = needsShell ? `"${program}"` : program;
  const child = spawn(command, needsShell ? words.map((word) => `"${word}"`) : [...words], {
    env: { ...environment },
    stdio: 'inherit',
    shell: needsShell,
  });
  const ignore = (): void => {};
  const handlers = FORWARDED_SIGNALS.map((name) => [name, (): void => void child.kill(name)] as const);
  process.on('SIGINT', ignore);
  for (const [name, handler] of handlers) process.on(name, handler);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(new CommandFailure(`${program} could not be started: ${textOf(error)}`)));
      child.once('exit', (exitCode, signal) =>
        resolve(exitCode ?? SIGNAL_BASE + (signal === null ? 0 : (system.signals[signal] ?? 0))),
      );
    });
    throw new Ended(code);
  } finally {
    process.off('SIGINT', ignore);
    for (const [name, handler] of handlers) process.off(name, handler);
  }
}
