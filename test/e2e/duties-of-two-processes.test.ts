import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TypedDocumentString } from '../graph/generated/graphql.ts';
import { overEventStream, type Subscriber } from '../graph/subscribers.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const ADMIN = 'sk-the-admin-of-two-processes-5';
const KIND = 'duty:budget-windows';
/** Three periods of five seconds, with room for a loaded machine. */
const SOON = { timeout: 60_000, interval: 200 };

interface ShownJob {
  readonly subject: string;
  readonly status: string;
  readonly attempts: number;
  readonly workerId: string | null;
}

async function jobsOf(app: TestApp, kind: string): Promise<readonly ShownJob[]> {
  const query = `query Jobs($kind: String!) { jobs(kind: $kind) { subject status attempts workerId } }`;
  const answer = await app.call('POST', '/graphql', { query, variables: { kind } });
  return ((await answer.json()) as { data: { jobs: readonly ShownJob[] } }).data.jobs;
}

describe.skipIf(LACKS_POSTGRESQL)('duties of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    two = await startTwoApps(ADMIN);
    ({ here, there } = two);
  });
  afterAll(() => two.stop());

  it('run at most once in a period', async () => {
    const completed = await vi.waitFor(async () => {
      const found = (await jobsOf(there, KIND)).filter(({ status }) => status === 'COMPLETED');
      expect(found.length).toBeGreaterThanOrEqual(3);
      return found;
    }, SOON);
    expect(completed.every(({ attempts, workerId }) => attempts === 1 && workerId !== null)).toBe(true);
    const periods = completed.map(({ subject }) => Date.parse(subject));
    expect(periods.every((ms) => ms % 5_000 === 0)).toBe(true);
    expect(new Set(periods).size).toBe(periods.length);
  });

  it('are sent to subscribers in both processes, whichever runs them', async () => {
    const document = new TypedDocumentString<unknown, { kind: string }>(
      'subscription($kind: String) { jobUpdates(kind: $kind) { subject status } }',
    );
    const followers = [here, there].map((app) =>
      overEventStream(`${app.url}/graphql`, document, { kind: KIND }, ADMIN),
    );
    const completed = ({ received }: Subscriber): ReadonlySet<string> =>
      new Set(
        (received as readonly { readonly data: { readonly jobUpdates: ShownJob } }[])
          .map(({ data }) => data.jobUpdates)
          .filter(({ status }) => status === 'COMPLETED')
          .map(({ subject }) => subject),
      );
    try {
      await vi.waitFor(() => {
        const [ofHere, ofThere] = followers.map(completed);
        expect([...(ofHere ?? [])].filter((subject) => ofThere?.has(subject))).not.toEqual([]);
      }, SOON);
    } finally {
      for (const follower of followers) await follower.leave();
    }
  });

  it('go on when one process stops', async () => {
    await here.stop({ keepData: true });
    const before = new Set((await jobsOf(there, KIND)).map(({ subject }) => subject));
    await vi.waitFor(async () => {
      const found = await jobsOf(there, KIND);
      expect(found.some(({ subject, status }) => status === 'COMPLETED' && !before.has(subject))).toBe(true);
    }, SOON);
  });
});

it('duties of one process over SQLite run at its start and again after a restart', async () => {
  const first = await startApp();
  const completedJobs = async (app: TestApp): Promise<readonly ShownJob[]> =>
    vi.waitFor(async () => {
      const found = (await jobsOf(app, KIND)).filter(({ status }) => status === 'COMPLETED');
      expect(found).not.toEqual([]);
      return found;
    }, SOON);
  const [{ workerId } = { workerId: '' }] = await completedJobs(first);
  await first.stop({ keepData: true });
  const second = await startApp({ dataDir: first.dataDir });
  await vi.waitFor(async () => {
    const found = await completedJobs(second);
    expect(found.some((job) => job.workerId !== workerId)).toBe(true);
  }, SOON);
  await second.stop();
});
