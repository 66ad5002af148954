import { expect, it } from 'vitest';
import { RESPONSES } from '../../../src/domain/inference/endpoint.ts';
import { RESPONSES_NATIVE } from '../../../src/wire/responses/native.ts';

const QUEUED = { id: 'resp_1', object: 'response', model: 'm', status: 'queued', background: true, output: [] };

/** Whether the outcome of a complete and of a streamed answer in the background is billed later. */
function billedLater(onBackground?: () => boolean): readonly (boolean | undefined)[] {
  const options = { model: 'm', textLimit: 0, ...(onBackground === undefined ? {} : { onBackground }) };
  const whole = RESPONSES_NATIVE.whole(Buffer.from(JSON.stringify(QUEUED)), {
    ...options,
    endpoint: RESPONSES,
    body: {},
  });
  const inspector = RESPONSES_NATIVE.inspector({
    ...options,
    removeUsageChunk: false,
    upstreamError: ({ message }) => new Error(message),
    formatError: (fault) => new Error(fault),
  });
  const event = { type: 'response.created', response: QUEUED };
  inspector.inspect(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  const ofWhole = whole === null || 'error' in whole ? undefined : whole.outcome.billedLater;
  return [ofWhole, inspector.outcome().billedLater];
}

it('an answer in the background is billed later only where its later charge is accepted', () => {
  expect(billedLater(() => true)).toEqual([true, true]);
  expect(billedLater(() => false)).toEqual([undefined, undefined]);
  expect(billedLater()).toEqual([undefined, undefined]);
});
