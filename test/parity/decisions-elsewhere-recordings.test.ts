import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import {
  hasRecordings,
  hasRecordedAnswer,
  type RecordedCase,
  recordedCases,
  shapeOf,
  startRecordedUpstream,
} from './recordings.ts';

if (!hasRecordings)
  console.warn('SKIPPED: the recorded answers of the reference (../shared/data/reference) are not here.');

/** Decisions in the recordings of other routes and of retries. */
const cases = (): readonly RecordedCase[] =>
  ['other_routes', 'retries']
    .flatMap((name) => recordedCases(name))
    .filter((recorded) => /\/(decisions|systemone)$/.test(recorded.path) && hasRecordedAnswer(recorded));

describe.skipIf(!hasRecordings)('the recorded answers of the reference: decisions among other routes', () => {
  let app: TestApp;
  let upstream: Awaited<ReturnType<typeof startRecordedUpstream>>;
  let limitedKey = '';
  let unlimitedKey = '';

  beforeAll(async () => {
    upstream = await startRecordedUpstream();
    const params = { model: 'openai/tiny-1', api_base: upstream.base, api_key: 'k' };
    app = await startApp({
      config: {
        model_list: ['oa', 'gpt-4o'].map((name) => ({ model_name: name, litellm_params: params })),
      },
    });
    const newKey = async (settings: object): Promise<string> =>
      ((await (await app.call('POST', '/key/generate', settings)).json()) as { readonly key: string }).key;
    limitedKey = await newKey({ models: ['oa'] });
    unlimitedKey = await newKey({});
  });
  afterAll(async () => {
    await app.stop();
    await upstream.stop();
  });

  const keyOf = ({ role }: RecordedCase): string | null => {
    if (role === 'none') return null;
    if (role === 'key:key_z') return limitedKey;
    return role?.startsWith('key:') === true ? unlimitedKey : app.adminKey;
  };

  async function compared(recorded: RecordedCase) {
    const key = keyOf(recorded);
    const answer = await fetch(`${app.url}${recorded.path}`, {
      method: recorded.method,
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(recorded.method === 'GET' ? {} : { body: JSON.stringify(recorded.body) }),
    });
    const text = await answer.text();
    const [theirs, ours] = [shapeOf(recorded.response_body).join(' '), shapeOf(text).join(' ')];
    return { name: recorded.name, status: [recorded.status, answer.status], shape: [theirs, ours], text };
  }

  it('have the same status and shape', async () => {
    const all = [];
    for (const recorded of cases()) all.push(await compared(recorded));
    expect(all.length).toBeGreaterThanOrEqual(24);
    const different = all.filter(({ status, shape }) => status[0] !== status[1] || shape[0] !== shape[1]);
    expect(different).toEqual([]);
  });
});
