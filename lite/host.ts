import type { Terminal } from './terminal/terminal.ts';

/** The parts of the process that commands use. Only `main.ts` reads them from `process`. */
export interface Host {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user. */
  readonly home: string;
  /** Folder of the project, which has `package.json` and `scripts/start.mjs`. */
  readonly root: string;
  readonly terminal: Terminal;
  /** Current time, Unix ms. */
  nowMs(): number;
  /** Replaces the default action of the ending signals until `release`. */
  interruption(): Interruption;
}

/** Handler of the signals that end a process: Ctrl-C, SIGTERM and a closed terminal. */
export interface Interruption {
  /** Aborts at the first of the signals. */
  readonly signal: AbortSignal;
  /** Restores the default action of the signals. */
  release(): void;
}

/** A variable of the environment; null where it is unset or blank. */
export function variable({ environment }: Pick<Host, 'environment'>, name: string): string | null {
  const value = environment[name]?.trim();
  return value === undefined || value === '' ? null : value;
}
