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
import { awayFromMidnight } from '../support/away-from-midnight.ts';

beforeAll(awayFromMidnight);

if (!hasRecordings)
  console.warn('SKIPPED: the recorded answers of the reference (../shared/data/reference) are not here.');

/** Cases that the reference answers with a 500 or with an error about a missing licence. */
const isNotWorthCopying = ({ status, response_body: body }: RecordedCase): boolean =>
  status === 500 || JSON.stringify(body).includes('LITELLM_LICENSE');

const isCompared = (recorded: RecordedCase): boolean => hasRecordedAnswer(recorded) && !isNotWorthCopying(recorded);

/** Today in UTC. Days of the recording are replaced by days around it. */
const today = (): string => new Date().toISOString().slice(0, 10);

async function replayAndCompare(app: TestApp): Promise<readonly MemberComparison[]> {
  const replay = createReplay(app.url, app.adminKey);
  const compared: MemberComparison[] = [];
  for (const [index, recorded] of recordedCases('spend').entries()) {
    const day = Date.parse(`${today()}T00:00:00Z`);
    const dayAt = (days: number): string => new Date(day + days * 86_400_000).toISOString().slice(0, 10);
    // The recorded 21st becomes yesterday, the 23rd tomorrow. Both are replaced at once, because a new day may equal a
    // recorded one.
    const dated = JSON.parse(
      JSON.stringify(recorded).replaceAll(/2026-11-2[13]/g, (recordedDay) => dayAt(recordedDay.endsWith('1') ? -1 : 1)),
    ) as RecordedCase;
    if (typeof recorded.wait_before_s === 'number') await sleep(Math.min(recorded.wait_before_s, 1) * 1_000);
    const answer = await replay.send(dated);
    if (isCompared(recorded)) compared.push(compareMembers(index, anonymous(recorded), anonymousAnswer(answer)));
  }
  return compared;
}

const HASH = /[0-9a-f]{64}|litellm_proxy_master_key/g;
/** Name of the HTTP client in tags. */
const AGENT = /(User-Agent: )[\w.-]+(\/[\w.]+)?/g;
const masked = (text: string): string => text.replaceAll(HASH, 'hash').replaceAll(AGENT, '$1agent');
const anonymousAnswer = <Answer extends { readonly text: string }>(answer: Answer): Answer => ({
  ...answer,
  text: masked(answer.text),
});

/** A long answer is recorded only in part: its first item is compared. */
function anonymous(recorded: RecordedCase): RecordedCase {
  if (recorded.truncated === undefined || typeof recorded.response_body !== 'string')
    return { ...recorded, response_body: JSON.parse(masked(JSON.stringify(recorded.response_body))) as unknown };
  const begin = recorded.response_body.slice(0, recorded.response_body.indexOf(',{"request_id"'));
  return { ...recorded, response_body: JSON.parse(masked(`${begin}]`)) as unknown };
}

describe.skipIf(!hasRecordings)('the recorded answers of the reference: spend', () => {
  /** `status` and `shape` of a case are null when they are equal to the recorded ones. */
  let all: readonly MemberComparison[] = [];
  beforeAll(async () => {
    const upstream = await startRecordedUpstream();
    const modelNamed = (name: string, model: string) => ({
      model_name: name,
      litellm_params: { model, api_base: upstream.base, api_key: 'k' },
    });
    const app = await startApp({
      config: {
        model_list: [
          modelNamed('oa', 'openai/tiny-1'),
          modelNamed('gpt-4o', 'openai/gpt-4o'),
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
    expect(all.length).toBeGreaterThan(55);
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
