import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import { compareMembers, type MemberComparison } from './member-comparison.ts';
import {
  createReplay,
  hasRecordings,
  hasRecordedAnswer,
  type RecordedCase,
  recordedCases,
  startRecordedUpstream,
} from './recordings.ts';

if (!hasRecordings)
  console.warn('SKIPPED: the recorded answers of the reference (../shared/data/reference) are not here.');

/** Cases that the reference answers with a 500 or with an error about a missing licence. */
const isNotWorthCopying = ({ status, response_body: body }: RecordedCase): boolean =>
  status === 500 || /LITELLM_LICENSE|enterprise folder/.test(JSON.stringify(body));

/** Cases about a row that the reference did not create, because it needs a licence. */
const AFTER_LICENCE = new Set(['org team new', 'project/info']);

const isCompared = (recorded: RecordedCase): boolean =>
  hasRecordedAnswer(recorded) && !AFTER_LICENCE.has(recorded.name) && !isNotWorthCopying(recorded);

/** Longest wait in s. The recordings wait until the cache of the reference expires, which is not needed here. */
const LONGEST_WAIT_S = 1;

async function replayAndCompare(app: TestApp): Promise<readonly MemberComparison[]> {
  const replay = createReplay(app.url, app.adminKey);
  const compared: MemberComparison[] = [];
  for (const [index, recorded] of recordedCases('users_teams').entries()) {
    await sleep(Math.min(recorded.wait_before_s ?? 0, LONGEST_WAIT_S) * 1_000);
    const answer = await replay.send(recorded);
    if (isCompared(recorded)) compared.push(compareMembers(index, recorded, answer));
  }
  return compared;
}

describe.skipIf(!hasRecordings)('the recorded answers of the reference: users and teams', () => {
  /** `status` and `shape` of a case are null when they are equal to the recorded ones. */
  let all: readonly MemberComparison[] = [];
  beforeAll(async () => {
    const upstream = await startRecordedUpstream();
    const modelNamed = (name: string, model: string, further: object = {}) => ({
      model_name: name,
      litellm_params: { model, api_base: upstream.base, api_key: 'k', ...further },
    });
    const app = await startApp({
      config: {
        model_list: [
          modelNamed('oa', 'openai/tiny-1'),
          modelNamed('gpt-4o', 'openai/gpt-4o'),
          modelNamed('slow', 'openai/tiny-1', { timeout: 1, max_retries: 0 }),
          modelNamed('emb', 'openai/text-embedding-3-small'),
        ],
      },
    });
    try {
      all = await replayAndCompare(app);
    } finally {
      await app.stop();
      await upstream.stop();
    }
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(all));
  });

  // The other cases are chosen differences, for example refused calls of a blocked customer.
  it('have the same status in at least 162 of 167 cases', () => {
    expect(all).toHaveLength(167);
    expect(all.filter(({ status }) => status === null).length).toBeGreaterThanOrEqual(162);
  });

  it('have the same shape in at least 156 of 167 cases', () => {
    const alike = all.filter(({ status, shape }) => status === null && shape === null);
    expect(alike.length).toBeGreaterThanOrEqual(156);
  });
});

function report(compared: readonly MemberComparison[]): string {
  const differing = compared.filter(({ status, shape }) => status !== null || shape !== null);
  const lines = differing.map(
    ({ index, name, status, shape, text }) =>
      `#${index} ${name}: ${status ?? ''} ${shape ?? ''}\n    ${text.slice(0, 240)}`,
  );
  const statuses = compared.filter(({ status }) => status === null).length;
  return [...lines, `statuses ${statuses}, shapes ${compared.length - differing.length} of ${compared.length}`].join(
    '\n',
  );
}
