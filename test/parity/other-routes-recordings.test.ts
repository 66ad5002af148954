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

const FILE = 'other_routes';

/** Features that are not implemented, by path. Their cases are not sent. */
const NOT_BUILT = [
  ['authorization of MCP clients', /^\/authorize/],
  ['the control plane', /^\/(v1\/)?rust_control_plane/],
] as const;
/** Paths whose cases other tests cover. */
const ELSEWHERE =
  /^\/(v1\/decisions|decisions|v1\/systemone|systemone|lens|v1\/lens|v1\/traces|otel|login|v2\/login|sso|fallback\/login|ui|codeagent|cursor)\b/;
const isSent = (recorded: RecordedCase): boolean =>
  !ELSEWHERE.test(recorded.path) && !NOT_BUILT.some(([, paths]) => paths.test(recorded.path));

/** Paths of requests that create the keys of the cases. */
const SETUP = /^\/(user\/new|key\/generate)$/;
/** Address of the upstream of the recording. */
const RECORDED_UPSTREAM = 'http://127.0.0.1:9912/v1';

async function replayAndCompare(): Promise<readonly CaseComparison[]> {
  const upstream = await startRecordedUpstream();
  const model = (name: string, upstreamModel: string) => ({
    model_name: name,
    litellm_params: { model: upstreamModel, api_base: upstream.base, api_key: 'k' },
  });
  const app = await startApp({
    config: {
      general_settings: { demo_model: false },
      model_list: [
        model('oa', 'openai/tiny-1'),
        model('gpt-4o', 'openai/gpt-4o'),
        model('emb', 'openai/text-embedding-3-small'),
      ],
    },
  });
  try {
    const replay = createReplay(app.url, app.adminKey);
    const compared: CaseComparison[] = [];
    for (const recorded of recordedCases(FILE)) {
      if (!isSent(recorded)) continue;
      const body = JSON.parse(
        JSON.stringify(recorded.body ?? null).replaceAll(RECORDED_UPSTREAM, upstream.base),
      ) as unknown;
      const answer = await replay.send({ ...recorded, body });
      if (hasRecordedAnswer(recorded) && !SETUP.test(recorded.path))
        compared.push(compare(`${FILE}: ${recorded.name}`, recorded, answer));
    }
    return compared;
  } finally {
    await app.stop();
    await upstream.stop();
  }
}

describe.skipIf(!hasRecordings)('the recorded answers of the reference: other routes', () => {
  let all: readonly CaseComparison[] = [];
  beforeAll(async () => {
    all = await replayAndCompare();
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(all));
  });

  it('have the same status and the same shape, except for the chosen differences', () => {
    expect(unexplained(all)).toEqual([]);
  });

  it('differ in every case that is listed as a chosen difference', () => {
    expect(neverDifferent(all, [FILE])).toEqual([]);
  });

  it('are compared, and nearly all are equal', () => {
    const { cases, statuses, shapes } = countEqual(all);
    expect(cases).toBeGreaterThan(20);
    expect(statuses / cases).toBeGreaterThanOrEqual(0.95);
    expect(shapes / cases).toBeGreaterThanOrEqual(0.9);
  });
});
