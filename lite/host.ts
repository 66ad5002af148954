import type { Terminal } from './terminal/terminal.ts';

/** What a command uses of its process. Only `main.ts` reads the process. */
export interface Host {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user. */
  readonly home: string;
  /** Folder of the project, which has `package.json` and `scripts/start.mjs`. */
  readonly root: string;
  readonly terminal: Terminal;
  /** Current time, Unix ms. */
  nowMs(): number;
  /** Takes over the signals that end a process, until `release`. */
  interruption(): Interruption;
}

/** Signals that end a process: Ctrl-C, SIGTERM and a closed terminal. */
export interface Interruption {
  /** Aborts at the first of the signals. */
  readonly signal: AbortSignal;
  /** Returns the signals to their default. */
  release(): void;
}

/** A variable of the environment; null where it is unset or blank. */
export function variable({ environment }: Pick<Host, 'environment'>, name: string): string | null {
  const value = environment[name]?.trim();
  return value === undefined || value === '' ? null : value;
}
