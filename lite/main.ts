import { homedir } from 'node:os';
import type { Interruption } from './host.ts';
import { runLine } from './program.ts';
import { createTerminal } from './terminal/terminal.ts';

const isBrokenPipe = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EPIPE';

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function interruption(): Interruption {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const name of ENDING_SIGNALS) process.on(name, abort);
  return {
    signal: controller.signal,
    release() {
      for (const name of ENDING_SIGNALS) process.off(name, abort);
    },
  };
}

/** Runs the command line of this process and sets its exit code. `root` is the folder of the project. */
export async function main(root: string): Promise<void> {
  // A reader such as `head` may close the pipe. That is no failure: the command ends with 0.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: unknown) => {
      if (isBrokenPipe(error)) process.exit(0);
      throw error;
    });
  const environment = process.env;
  const home = environment['HOME'] || environment['USERPROFILE'] || homedir();
  const terminal = createTerminal(process);
  const host = { environment, home, root, terminal, nowMs: () => Date.now(), interruption };
  process.exitCode = await runLine(host, process.argv.slice(2));
}
