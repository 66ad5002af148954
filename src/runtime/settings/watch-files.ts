import { stat } from 'node:fs/promises';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';
import { ConfigError } from './config-fault.ts';

/**
 * Detects changes of files by polling their state. Polling also finds replaced files, and changes behind symbolic
 * links.
 */
export interface FileWatch {
  /** Begins to poll. `onChange` is called when a file has a new state that two checks in a row have found. */
  start(): void;
  stop(): void;
  /** Takes the current state of the files as known: only later changes are reported. */
  markCurrent(): Promise<void>;
}

/**
 * Throws ConfigError for files that are not regular: reading a pipe may never end. The reader reports missing files.
 */
export async function assertRegular(files: readonly string[]): Promise<void> {
  const states = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  const faults = files.flatMap((source, at) =>
    states[at]?.isFile() === false ? [{ source, line: null, key: '', message: 'is not a regular file' }] : [],
  );
  if (faults.length > 0) throw new ConfigError(faults);
}

/** State of a file as text; a missing file has one, too. */
async function stateOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return 'missing';
  }
}

export function watchFiles({
  files,
  everyMs,
  scheduler,
  onChange,
}: {
  /** The current files. */
  readonly files: () => readonly string[];
  /** Time between two checks, in ms. */
  readonly everyMs: number;
  readonly scheduler: Scheduler;
  readonly onChange: () => void;
}): FileWatch {
  /** States that were reported last, or taken as known. */
  let known: string | null = null;
  /** States that the previous check found. */
  let previous: string | null = null;
  let task: ScheduledTask | null = null;

  const read = async (): Promise<string> => (await Promise.all(files().map(stateOf))).join('\n');

  async function check(): Promise<void> {
    const current = await read();
    known ??= current;
    // A file that is being written changes between two checks.
    const isStable = current === previous;
    previous = current;
    if (current === known || !isStable) return;
    known = current;
    onChange();
  }

  return {
    start() {
      task = scheduler.every({ name: 'configuration-watch', everyMs, run: check });
    },
    stop: () => void task?.stop(),
    async markCurrent() {
      known = await read();
      previous = known;
    },
  };
}
