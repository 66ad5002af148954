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

const isOfLens = ({ path }: RecordedCase): boolean => /^(?:\/v1)?\/lens\b/.test(path);

/** Paths whose answers differ, because traces are always recorded here. */
const OTHER_ANSWERS = /^\/lens\/feedback\b/;

const isCompared = (recorded: RecordedCase): boolean =>
  isOfLens(recorded) && hasRecordedAnswer(recorded) && !OTHER_ANSWERS.test(recorded.path);

async function replayAndCompare(app: TestApp, file: string): Promise<readonly MemberComparison[]> {
  const replay = createReplay(app.url, app.adminKey);
  const made = (await (await app.call('POST', '/key/generate', {})).json()) as { readonly key: string };
  replay.capture('key_x', made.key);
  const compared: MemberComparison[] = [];
  for (const [index, recorded] of recordedCases(file).entries()) {
    if (!isOfLens(recorded)) continue;
    const answer = await replay.send(recorded);
    if (isCompared(recorded)) compared.push(compareMembers(index, recorded, answer));
  }
  return compared;
}

describe.skipIf(!hasRecordings)('the recorded answers of the reference: lenses', () => {
  /** `status` and `shape` of a case are null when they are equal to the recorded ones. */
  let all: readonly MemberComparison[] = [];
  beforeAll(async () => {
    const upstream = await startRecordedUpstream();
    const params = { model: 'openai/tiny-1', api_base: upstream.base, api_key: 'k' };
    const app = await startApp({
      config: { model_list: [{ model_name: 'oa', litellm_params: params }] },
      env: { LENSGATE_LENS_WORKER_SLOTS: '0' },
    });
    try {
      all = [...(await replayAndCompare(app, 'other_routes')), ...(await replayAndCompare(app, 'retries'))];
    } finally {
      await app.stop();
      await upstream.stop();
    }
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(all);
  });

  it('have the same status and shape in all cases', () => {
    expect(all.length).toBeGreaterThan(10);
    const differing = all.filter(({ status, shape }) => status !== null || shape !== null);
    expect(differing.map(({ name, status, shape, text }) => [name, status, shape, text.slice(0, 200)])).toEqual([]);
  });
});
