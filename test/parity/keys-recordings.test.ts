import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  status === 500 || JSON.stringify(body).includes('LITELLM_LICENSE');

const isCompared = (recorded: RecordedCase): boolean => hasRecordedAnswer(recorded) && !isNotWorthCopying(recorded);

async function replayAndCompare(app: TestApp): Promise<readonly MemberComparison[]> {
  const replay = createReplay(app.url, app.adminKey);
  const compared: MemberComparison[] = [];
  for (const [index, recorded] of recordedCases('keys').entries()) {
    if (typeof recorded.wait_before_s === 'number') await sleep(recorded.wait_before_s * 1_000);
    // In the recording, another client calls the reference at the same time.
    const slowCall = recorded.name === 'parallel over' ? replay.send(slowly(recorded)) : null;
    if (slowCall !== null) await sleep(300);
    const answer = await replay.send(recorded);
    await slowCall;
    if (isCompared(recorded)) compared.push(compareMembers(index, recorded, answer));
  }
  return compared;
}

const slowly = (recorded: RecordedCase): RecordedCase => ({
  ...recorded,
  body: { model: 'oa', messages: [{ role: 'user', content: 'sleep:1000' }] },
});

describe.skipIf(!hasRecordings)('the recorded answers of the reference: keys', () => {
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
  });
  afterAll(() => {
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(all));
  });

  it('have the same status in at least 95 of 100 cases', () => {
    expect(all.length).toBeGreaterThan(120);
    expect(all.filter(({ status }) => status === null).length / all.length).toBeGreaterThanOrEqual(0.95);
  });

  it('have the same shape in at least 90 of 100 cases', () => {
    const alike = all.filter(({ status, shape }) => status === null && shape === null);
    expect(alike.length / all.length).toBeGreaterThanOrEqual(0.9);
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
