import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DashboardFiles } from '../../../rest-shims/dashboard.ts';

/** Deadline of the build in ms. A build takes 100 to 300 ms. */
const BUILD_DEADLINE_MS = 30_000;

/**
 * Returns a function that reads the files of the dashboard. Its first call builds the files, so that a start is not
 * slower. After a failed build, the next call builds again.
 */
export function createDashboardFiles(): () => Promise<DashboardFiles> {
  let files: Promise<DashboardFiles> | null = null;
  return () => {
    files ??= build().catch((error: unknown) => {
      files = null;
      throw error;
    });
    return files;
  };
}

async function build(): Promise<DashboardFiles> {
  const worker = new Worker(new URL('./build-worker.ts', import.meta.url));
  try {
    const [files] = (await once(worker, 'message', { signal: AbortSignal.timeout(BUILD_DEADLINE_MS) })) as [
      DashboardFiles,
    ];
    return files;
  } finally {
    await worker.terminate();
  }
}
