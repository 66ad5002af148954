import type { Delivery } from '../src/domain/bus.ts';
import type { Job, JobStatus } from '../src/domain/jobs/job.ts';
import type { LensRun } from '../src/domain/lens/lens.ts';
import type { FindingFilter, FindingPage, LensFinding } from '../src/domain/lens/store.ts';
import { pageOfRows } from '../src/domain/page.ts';
import type { PollableStream } from '../src/domain/pollable-stream.ts';
import { lensReader } from './operation/lens-access.ts';
import { whileAllowed } from './operation/live-feed.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

/** Maximum number of findings or jobs of a page. */
const MAX_ROWS = 200;

/**
 * The matching findings of all lenses, and whether more follow. Sorted by the time when they were last seen, in the
 * direction of the page. Throws InvalidInput.
 */
export const listFindings = operation({
  name: 'listFindings',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    page: FindingPage,
  ): Promise<{ readonly items: readonly LensFinding[]; readonly hasMore: boolean }> {
    checkedPageSize(page.limit, { max: MAX_ROWS });
    const found = await scope.platform.stores.lenses.findings({ ...page, limit: page.limit + 1 });
    return pageOfRows(found, page.limit);
  },
});

/** Number of the matching findings of all lenses. */
export const countFindings = operation({
  name: 'countFindings',
  access: lensReader,
  run: ({ platform }: Scope<LensPlatform>, filter: FindingFilter): Promise<number> =>
    platform.stores.lenses.countFindings(filter),
});

/** The latest background jobs, newest first. Throws InvalidInput. */
export const listJobs = operation({
  name: 'listJobs',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    {
      kind,
      status,
      limit,
    }: { readonly kind: string | null; readonly status: JobStatus | null; readonly limit: number },
  ): Promise<readonly Job[]> {
    checkedPageSize(limit, { max: MAX_ROWS });
    return scope.platform.stores.jobs.list({ kind, status }, limit);
  },
});

/** Streams jobs of one kind, or of all, after each change of their state. Ends when the reader loses access. */
export const watchJobs = operation({
  name: 'watchJobs',
  access: lensReader,
  run(scope: Scope<LensPlatform>, { kind }: { readonly kind: string | null }): PollableStream<Delivery<Job>> {
    const jobs = scope.platform.bus.subscribe('job', {
      wanted: (job) => kind === null || job.kind === kind,
      signal: scope.signal,
    });
    return whileAllowed(jobs, { scope, access: lensReader, show: (job) => job });
  },
});

/** Streams the runs of a lens after each change. Ends when the reader loses access. */
export const watchLensRun = operation({
  name: 'watchLensRun',
  access: lensReader,
  run(scope: Scope<LensPlatform>, { lensId }: { readonly lensId: string }): PollableStream<Delivery<LensRun>> {
    const runs = scope.platform.bus.subscribe('lensRun', {
      wanted: (run) => run.lensId === lensId,
      signal: scope.signal,
    });
    return whileAllowed(runs, { scope, access: lensReader, show: (run) => run });
  },
});

/** Streams findings of one lens, or of all, as runs and users change them. Ends when the reader loses access. */
export const watchFindings = operation({
  name: 'watchFindings',
  access: lensReader,
  run(
    scope: Scope<LensPlatform>,
    { lensId }: { readonly lensId: string | null },
  ): PollableStream<Delivery<LensFinding>> {
    const findings = scope.platform.bus.subscribe('finding', {
      wanted: (found) => lensId === null || found.lensId === lensId,
      signal: scope.signal,
    });
    return whileAllowed(findings, { scope, access: lensReader, show: (finding) => finding });
  },
});
