import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../support/start-app.ts';
import {
  createReplay,
  hasRecordings,
  hasRecordedAnswer,
  type RecordedCase,
  recordedCases,
  recordedConfig,
  type SeenCall,
  type ReplayedAnswer,
  shapeOf,
  startRecordedUpstream,
} from './recordings.ts';

if (!hasRecordings)
  console.warn('SKIPPED: the recorded answers of the reference (../shared/data/reference) are not here.');

/** Reason whose cases are not counted. */
const REFERENCE_FAILURE = 'a 500 of the reference on a request that it does not understand or does not serve';

/** Cases whose answer differs on purpose, by reason. `docs/differences.md` has the reasons for readers. */
const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  [REFERENCE_FAILURE]: ['openai/v1/decisions prefix', 'body list'],
  'an ability belongs to a deployment, not to all deployments of its model': [
    'box openai twin deployment of same upstream model',
  ],
  'a mock answer is refused where the answer is no text': ['mock_response'],
  'chat models of a provider without decision models decide by chat completions': ['provider openai format anth'],
  'the key is checked before the body is read': ['wrong key bad body'],
  'an unknown or missing model has one error on all endpoints': ['unknown model', 'no model'],
  'guardrails run on decisions: the reference lists them as applied and does not run them': [
    'guardrail dm-block',
    'guardrail dm-block named',
    'guardrail content filter in question',
    'guardrail content filter named',
    'guardrail content filter named object',
  ],
};
/** Cases whose first upstream call differs: health checks with another text, and questions of guardrails. */
const OWN_PROBES = new Set([
  'guardrail dm-log',
  'guardrail dm-post',
  'health ev-ok',
  'health ev-vllm',
  'health ev-hcp-err',
  'health ev-dead',
  'health ev-nobase',
  'health ev-ts',
  'health cf-omni-id',
  'health by model name',
  'health test_connection evaluation',
  'health test_connection decisions',
  'health test_connection decisions fails',
]);
const REASON_OF = new Map(Object.entries(DIFFERENT).flatMap(([reason, names]) => names.map((name) => [name, reason])));

/** Whether a case is about pass-through endpoints. These cases are the last ones, and have another configuration. */
const isOfPassThrough = ({ name }: RecordedCase): boolean => name.startsWith('cfg2');

/** A case whose long body is not recorded. */
const CASE_WITH_LONG_BODY = 'image to cf too big';
const withLongBody = (recordedCase: RecordedCase): RecordedCase =>
  recordedCase.name === CASE_WITH_LONG_BODY
    ? {
        ...recordedCase,
        body: {
          model: 'cf',
          questions: [{ type: 'predicate', name: 'ok', instructions: 'is it fine?' }],
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: 'look' },
                { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(6_291_456)}` },
              ],
            },
          ],
        },
      }
    : recordedCase;

/** Requests that the fake upstream received since the last read. */
async function seenBy(base: string): Promise<readonly SeenCall[]> {
  const answer = await fetch(new URL('/__seen', base));
  return (await answer.json()) as readonly SeenCall[];
}

/** A list of the first call only, with its relevant headers. Later calls are retries. */
const firstOf = (calls: readonly SeenCall[]): unknown =>
  calls.slice(0, 1).map(({ method, url, headers, body }) => ({
    method,
    url,
    body,
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name]) => /^(authorization|content-type|typesafe-|x-)/.test(name)),
    ),
  }));

interface Compared {
  readonly name: string;
  readonly isStatusEqual: boolean;
  /** First call of the upstream, in the recording and here. Null where none is recorded, and for chats. */
  readonly calls: readonly [unknown, unknown] | null;
  /** Null when status and shape are equal. */
  readonly difference: string | null;
}

function compare(recordedCase: RecordedCase, { status, text }: ReplayedAnswer, calls: Compared['calls']): Compared {
  const isStatusEqual = status === recordedCase.status;
  const [theirs, ours] = [shapeOf(recordedCase.response_body).join(' '), shapeOf(text).join(' ')];
  const isEqual = isStatusEqual && (recordedCase.truncated !== undefined || theirs === ours);
  const difference = `${recordedCase.name}: ${recordedCase.status} -> ${status}\n  theirs ${theirs}\n  ours   ${ours}\n  ${text.slice(0, 200)}`;
  return { name: recordedCase.name, isStatusEqual, calls, difference: isEqual ? null : difference };
}

describe.skipIf(!hasRecordings)('the recorded answers of the reference: decisions', () => {
  let all: readonly Compared[] = [];
  beforeAll(async () => {
    const upstream = await startRecordedUpstream('decisions');
    const { host } = new URL(upstream.base);
    const app = await startApp({ config: recordedConfig('cfg-dec', { UP3: host, MASTER: 'sk-recorded-decisions' }) });
    try {
      const replay = createReplay(app.url, app.adminKey);
      const compared: Compared[] = [];
      for (const recordedCase of recordedCases('decisions')) {
        if (isOfPassThrough(recordedCase)) break;
        const answer = await replay.send(withLongBody(recordedCase));
        const receivedCalls = await seenBy(upstream.base);
        const recordedCall =
          recordedCase.upstream_seen === undefined || recordedCase.path.startsWith('/v1/chat')
            ? null
            : firstOf(recordedCase.upstream_seen);
        const calls = recordedCall === null ? null : ([recordedCall, firstOf(receivedCalls)] as const);
        if (hasRecordedAnswer(recordedCase)) compared.push(compare(recordedCase, answer, calls));
      }
      all = compared;
    } finally {
      await app.stop();
      await upstream.stop();
    }
  });
  afterAll(() => {
    if (process.env['LENSGATE_PARITY_REPORT'] !== undefined) console.log(report(all));
  });

  it('have the same status in at least 95 of 100 cases, and the same shape in at least 90', () => {
    const measured = all.filter(({ name }) => REASON_OF.get(name) !== REFERENCE_FAILURE);
    expect(measured.length).toBeGreaterThan(240);
    expect(measured.filter(({ isStatusEqual }) => isStatusEqual).length / measured.length).toBeGreaterThanOrEqual(0.95);
    expect(measured.filter(({ difference }) => difference === null).length / measured.length).toBeGreaterThanOrEqual(
      0.9,
    );
  });

  it('make the same upstream call, with the same body and credential', () => {
    const compared = all.filter(({ calls, name }) => calls !== null && !REASON_OF.has(name) && !OWN_PROBES.has(name));
    expect(compared.length).toBeGreaterThan(100);
    expect(compared.map(({ name, calls }) => ({ name, calls: calls?.[1] }))).toEqual(
      compared.map(({ name, calls }) => ({ name, calls: calls?.[0] })),
    );
  });

  it('differ in the listed cases only', () => {
    const unexplained = all.filter(({ name, difference }) => difference !== null && !REASON_OF.has(name));
    expect(unexplained.map(({ difference }) => difference)).toEqual([]);
  });

  it('differ in every listed case', () => {
    const different = new Set(all.flatMap(({ name, difference }) => (difference === null ? [] : [name])));
    expect([...REASON_OF.keys()].filter((name) => !different.has(name ?? ''))).toEqual([]);
  });
});

function report(compared: readonly Compared[]): string {
  const statuses = compared.filter(({ isStatusEqual }) => isStatusEqual).length;
  const shapes = compared.filter(({ difference }) => difference === null).length;
  const lines = compared.flatMap(({ name, difference }) =>
    difference === null ? [] : [`${difference}\n  ${REASON_OF.get(name) ?? 'UNEXPLAINED'}`],
  );
  return [...lines, `${compared.length} cases: ${statuses} statuses and ${shapes} shapes are equal.`].join('\n');
}
