import { beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../support/start-app.ts';
import { compare, type CaseComparison, countEqual, neverDifferent, report, unexplained } from './comparison.ts';
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

const FILE = 'models_config';

/** Paths of cases about models, also in the plural. The other cases of the file are about settings. */
const OF_MODELS =
  /^\/(model|v1\/model|v2\/model|model_group|access_group|fallback|credentials|v1\/chat\/completions)([/?]|$|s)/;
/** Paths of requests that create the keys of the cases. */
const SETUP = /^\/(user\/new|key\/generate)$/;
/** Address of the upstream of the recording. */
const RECORDED_UPSTREAM = 'http://127.0.0.1:9912/v1';

const atUpstream = (recorded: RecordedCase, base: string): RecordedCase => ({
  ...recorded,
  body: JSON.parse(JSON.stringify(recorded.body ?? null).replaceAll(RECORDED_UPSTREAM, base)) as unknown,
});

async function replayAndCompare(): Promise<readonly CaseComparison[]> {
  const upstream = await startRecordedUpstream();
  const model = (name: string, upstreamModel: string, more: object = {}) => ({
    model_name: name,
    litellm_params: { model: upstreamModel, api_base: upstream.base, api_key: 'k', ...more },
  });
  const app = await startApp({
    env: { STORE_MODEL_IN_DB: 'True', LITELLM_SALT_KEY: 'a-salt-key' },
    config: {
      model_list: [
        model('oa', 'openai/tiny-1'),
        model('gpt-4o', 'openai/gpt-4o'),
        model('slow', 'openai/tiny-1', { timeout: 1 }),
        model('emb', 'openai/text-embedding-3-small'),
      ],
    },
  });
  try {
    const replay = createReplay(app.url, app.adminKey);
    const compared: CaseComparison[] = [];
    for (const recorded of recordedCases(FILE)) {
      if (!OF_MODELS.test(recorded.path) && !SETUP.test(recorded.path)) continue;
      const answer = await replay.send(atUpstream(recorded, upstream.base));
      if (hasRecordedAnswer(recorded) && OF_MODELS.test(recorded.path))
        compared.push(compare(`${FILE}: ${recorded.name}`, recorded, answer));
    }
    return compared;
  } finally {
    await app.stop();
    await upstream.stop();
  }
}

describe.skipIf(!hasRecordings)('recorded answers of the reference: models', () => {
  let all: readonly CaseComparison[] = [];
  beforeAll(async () => {
    all = await replayAndCompare();
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(all));
  });

  it('have the same status and shape here, except for the differences that are listed as chosen', () => {
    expect(unexplained(all)).toEqual([]);
  });

  it('every case that is listed as a chosen difference differs', () => {
    expect(neverDifferent(all, [FILE])).toEqual([]);
  });

  it('are compared, and nearly all are equal', () => {
    const { cases, statuses, shapes } = countEqual(all);
    expect(cases).toBeGreaterThan(45);
    expect(statuses).toBe(cases);
    expect(shapes / cases).toBeGreaterThanOrEqual(0.98);
  });
});
