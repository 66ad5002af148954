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
    .filter((one) => /\/(decisions|systemone)$/.test(one.path) && hasRecordedAnswer(one));

describe.skipIf(!hasRecordings)('the recorded answers of the reference: decisions among other routes', () => {
  let app: TestApp;
  let upstream: Awaited<ReturnType<typeof startRecordedUpstream>>;
  let limited = '';
  let open = '';

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
    limited = await newKey({ models: ['oa'] });
    open = await newKey({});
  });
  afterAll(async () => {
    await app.stop();
    await upstream.stop();
  });

  const keyOf = ({ role }: RecordedCase): string | null => {
    if (role === 'none') return null;
    if (role === 'key:key_z') return limited;
    return role?.startsWith('key:') === true ? open : app.adminKey;
  };

  async function compared(one: RecordedCase) {
    const key = keyOf(one);
    const answer = await fetch(`${app.url}${one.path}`, {
      method: one.method,
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(one.method === 'GET' ? {} : { body: JSON.stringify(one.body) }),
    });
    const text = await answer.text();
    const [theirs, ours] = [shapeOf(one.response_body).join(' '), shapeOf(text).join(' ')];
    return { name: one.name, status: [one.status, answer.status], shape: [theirs, ours], text };
  }

  it('have the same status and shape', async () => {
    const all = [];
    for (const one of cases()) all.push(await compared(one));
    expect(all.length).toBeGreaterThanOrEqual(24);
    const different = all.filter(({ status, shape }) => status[0] !== status[1] || shape[0] !== shape[1]);
    expect(different).toEqual([]);
  });
});
