import { describe, expect, it } from 'vitest';
import { judgeAnswer } from '../../../bench/lens/judge.ts';
import { syntheticRuns } from '../../../bench/lens/runs.ts';
import { aLens, lensClient } from '../../support/lens-client.ts';

/** `repaired`: the first answer is invalid, and the second is valid. `invented`: the quotes are not in the traces. */
let mode: 'garbage' | 'repaired' | 'invented' = 'garbage';
/** Roles of the messages of each request. */
const roles: string[] = [];

const { ingest, create, untilRunEnds } = lensClient({
  slots: 1,
  judge: {
    answer(messages) {
      roles.push(messages.map(({ role }) => role).join(' '));
      if (mode === 'garbage') return 'I would rather not.';
      const answer = judgeAnswer(messages);
      if (mode === 'repaired') {
        // A request for a repair has the invalid answer and its error as further messages.
        const isRepairRequest = messages.length > 2;
        if (isRepairRequest) return answer;
        const withUnknownMember = `{"ignored": 5, ${answer.slice(1)}`;
        const withoutClosingBrace = withUnknownMember.slice(0, -1);
        return withoutClosingBrace;
      }
      return answer.replaceAll(/"quote":"(?:[^"\\]|\\.)*/g, '"quote":"words that no span has');
    },
  },
});

describe('a model with invalid answers', () => {
  it('fails the run with a reason after one repair attempt for each answer', async () => {
    await ingest(syntheticRuns(3, 1));
    const lens = await untilRunEnds((await create(aLens())).id);
    expect(lens.jobs[0]).toMatchObject({
      status: 'failed',
      stage: 'Failed',
      coverage: { failed_tasks: 3, screened: 0 },
    });
    expect(lens.jobs[0].error).toBe('The answer of the model is not valid: The answer is not one JSON object.');
    expect(roles.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'system user'),
      ...Array.from({ length: 3 }, () => 'system user assistant user'),
    ]);
    expect(lens.jobs[0].cost).toBeGreaterThan(0);
  });

  it('completes the run with a repaired answer', async () => {
    mode = 'repaired';
    const lens = await untilRunEnds((await create(aLens())).id);
    expect(lens.jobs[0]).toMatchObject({ status: 'completed', error: '', coverage: { screened: 3, failed_tasks: 0 } });
    expect(lens.findings).toHaveLength(1);
  });

  it('causes a partial review without findings if its quotes are not in their span', async () => {
    mode = 'invented';
    const lens = await untilRunEnds((await create(aLens())).id);
    // Only one of the three traces has a failure, so only its review has a quote.
    expect(lens.jobs[0]).toMatchObject({ status: 'completed', coverage: { screened: 3, partial: 1, candidates: 0 } });
    expect(lens.findings).toEqual([]);
  });
});
