import { describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../src/domain/errors.ts';
import { createGroupCommit } from '../../src/persistence/database/group-commit.ts';

interface Job {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

const job = (name: string, rows = 1, bytes = 1): Job => ({ name, rows, bytes });
/** Maximum size of all jobs in the queue. `groupRows` limits one commit. */
const limit = { rows: 100, bytes: 1_000 };

/** A `commit` function that records the names of the jobs of each commit. `refusal` makes jobs fail. */
function recordingCommit(refusal: (job: Job) => Error | null = () => null) {
  const groups: string[] = [];
  const commit = async (jobs: readonly Job[]): Promise<readonly string[]> => {
    groups.push(jobs.map(({ name }) => name).join(''));
    await Promise.resolve();
    for (const refused of jobs.map(refusal)) if (refused) throw refused;
    return jobs.map(({ name }) => name.toUpperCase());
  };
  return { groups, commit };
}

describe('a group commit', () => {
  it('commits jobs of one turn together, and jobs of a later turn in the next commit', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10 });
    const first = [job('a'), job('b'), job('c')].map((each) => commits.submit(each));
    const later = first[0]?.then(() => Promise.all([commits.submit(job('d')), commits.submit(job('e'))]));
    expect(await Promise.all(first)).toEqual(['A', 'B', 'C']);
    expect(await later).toEqual(['D', 'E']);
    expect(groups).toEqual(['abc', 'de']);
  });

  it('commits jobs of one turn together, also after many promise steps', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10, cores: 2 });
    const first = commits.submit(job('a'));
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    expect(groups).toEqual([]);
    expect(await Promise.all([first, commits.submit(job('b'))])).toEqual(['A', 'B']);
    expect(groups).toEqual(['ab']);
  });

  it('resolves the jobs of a commit before it begins the next', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10, cores: 2 });
    const before = ['a', 'b'].map((name) => commits.submit(job(name, 10)));
    const answered = commits.submit(job('c', 10)).then(async () => {
      for (let step = 0; step < 20; step += 1) await Promise.resolve();
      return groups.length;
    });
    const next = commits.submit(job('d', 10));
    await Promise.all([...before, next]);
    // `a`, `b` and `c` are committed. The commit of `d` has not begun.
    expect(await answered).toBe(3);
    expect(groups).toEqual(['a', 'b', 'c', 'd']);
  });

  it('divides jobs into commits of limited size, in order, and commits a large job alone', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10 });
    await Promise.all([job('a', 6), job('b', 4), job('c', 1), job('d', 50), job('e', 1)].map(commits.submit));
    expect(groups).toEqual(['ab', 'c', 'd', 'e']);
  });

  it('repeats the jobs of a failed commit attempt one by one', async () => {
    const failure = new Error('no such column');
    const { groups, commit } = recordingCommit(({ name }) => (name === 'b' ? failure : null));
    const commits = createGroupCommit({ commit, limit, groupRows: 10 });
    const settled = await Promise.allSettled([job('a'), job('b'), job('c')].map(commits.submit));
    expect(settled).toEqual([
      { status: 'fulfilled', value: 'A' },
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: 'C' },
    ]);
    expect(groups).toEqual(['abc', 'a', 'b', 'c']);
  });

  it('does not retry jobs one by one when the store is unavailable', async () => {
    const unavailable = new Unavailable('away');
    const { groups, commit } = recordingCommit(() => unavailable);
    const commits = createGroupCommit({ commit, limit, groupRows: 10 });
    const settled = await Promise.allSettled([job('a'), job('b')].map(commits.submit));
    expect(settled.map((result) => result.status === 'rejected' && result.reason === unavailable)).toEqual([
      true,
      true,
    ]);
    expect(groups).toEqual(['ab']);
  });

  it.each([
    ['rows', job('a', 60), job('b', 40), job('c', 1)],
    ['bytes', job('a', 1, 600), job('b', 1, 400), job('c', 1, 1)],
  ])('is full at exactly its limit of %s, and has room again afterwards', async (_what, first, second, third) => {
    const { commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10 });
    const accepted = [commits.submit(first), commits.submit(second)];
    await expect(commits.submit(third)).rejects.toThrow(Unavailable);
    expect(await Promise.all(accepted)).toEqual(['A', 'B']);
    await commits.idle();
    expect(await commits.submit(third)).toBe('C');
  });

  it('does not wait for jobs in preparation on several cores', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10, cores: 2 });
    const preparation = Promise.withResolvers<Job>();
    const later = commits.awaitInput(preparation.promise).then(commits.submit);
    expect(await commits.submit(job('a'))).toBe('A');
    preparation.resolve(job('b'));
    expect(await later).toBe('B');
    expect(groups).toEqual(['a', 'b']);
  });

  it('waits on one core for all jobs in preparation', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10, cores: 1 });
    const preparations = ['a', 'b', 'c'].map((name) => ({ name, prepared: Promise.withResolvers<Job>() }));
    const stored = preparations.map(async ({ prepared }) => commits.submit(await commits.awaitInput(prepared.promise)));
    for (const { name, prepared } of preparations) {
      await new Promise(setImmediate);
      expect(groups).toEqual([]);
      prepared.resolve(job(name));
    }
    expect(await Promise.all(stored)).toEqual(['A', 'B', 'C']);
    expect(groups).toEqual(['abc']);
  });

  it('stops waiting when the commit is full, or after a failed job', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10, cores: 1 });
    const broken = [1, 2].map(() => Promise.withResolvers<Job>());
    const refused = Promise.allSettled(broken.map(({ promise }) => commits.awaitInput(promise)));
    const first = commits.submit(job('a'));
    await new Promise(setImmediate);
    expect(groups).toEqual([]);
    const second = commits.submit(job('b', 9));
    await Promise.all([first, second]);
    expect(groups).toEqual(['ab']);
    const third = commits.submit(job('c'));
    for (const { reject } of broken) reject(new Error('cannot be read'));
    expect(await third).toBe('C');
    const reason = new Error('cannot be read');
    expect(await refused).toEqual(broken.map(() => ({ status: 'rejected', reason })));
  });

  it('waits a bounded time for a slow job', async () => {
    vi.useFakeTimers();
    try {
      const { groups, commit } = recordingCommit();
      const commits = createGroupCommit({ commit, limit, groupRows: 10, cores: 1 });
      const slow = [1, 2].map(() => Promise.withResolvers<Job>());
      for (const { promise } of slow) void commits.awaitInput(promise);
      const stored = commits.submit(job('a'));
      // A commit waits at most 10 ms.
      await vi.advanceTimersByTimeAsync(9);
      expect(groups).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(await stored).toBe('A');
    } finally {
      vi.useRealTimers();
    }
  });

  it('has room again after failures', async () => {
    const { commit } = recordingCommit(({ name }) => (name === 'x' ? new Error('refused') : null));
    const commits = createGroupCommit({ commit, limit, groupRows: 10 });
    await expect(commits.submit(job('x', 100))).rejects.toThrow('refused');
    await commits.idle();
    expect(await commits.submit(job('a', 100))).toBe('A');
  });

  it('accepts a job above its limit when the queue is empty', async () => {
    const { commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 10 });
    expect(await commits.submit(job('a', 1_000, 10_000))).toBe('A');
  });

  it('is idle after the last commit', async () => {
    const { groups, commit } = recordingCommit();
    const commits = createGroupCommit({ commit, limit, groupRows: 1 });
    await commits.idle();
    const accepted = [job('a'), job('b'), job('c')].map(commits.submit);
    await commits.idle();
    expect(groups).toEqual(['a', 'b', 'c']);
    await Promise.all(accepted);
  });
});
