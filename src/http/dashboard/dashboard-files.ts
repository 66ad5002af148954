import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DashboardFiles } from '../../../rest-shims/dashboard.ts';

/** Deadline of the build in ms. It takes 100 to 300 ms. */
const BUILD_DEADLINE_MS = 30_000;

/**
 * Returns a reader of the dashboard's files. The first call builds them, which a server without visitors never pays.
 * After a failed build, the next call tries again.
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
