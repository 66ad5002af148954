import { expect, it } from 'vitest';
import { answerWithResponse } from '../../../rest-shims/helpers/model-call/stored-responses.ts';
import { MAX_ANSWER_BYTES } from '../../../rest-shims/helpers/model-call/model-call.ts';
import { type ByteStream, streamOfBytes } from '../../../src/domain/bytes.ts';

it.each([
  ['above the limit', MAX_ANSWER_BYTES + 1, `it has more than ${MAX_ANSWER_BYTES} bytes`],
  ['without JSON', 1, 'it is not JSON'],
])('an answer %s about a response is refused with its fault', async (_what, size, fault) => {
  const call = {
    deployment: { provider: 'openai' },
    consume: (read: (stream: ByteStream) => unknown) => read(streamOfBytes(new Uint8Array(size))),
  };
  const answer = async () => ({ kind: 'upstream', call, idOf: (id: string) => id }) as never;
  await expect(answerWithResponse(answer, {} as never)).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    message: `The upstream's answer cannot be used: ${fault}.`,
  });
});
