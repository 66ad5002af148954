import { expect, it } from 'vitest';
import { type ByteStream, streamOfBytes } from '../../../src/domain/bytes.ts';
import type { DecisionRequest } from '../../../src/domain/decisions/decision.ts';
import type { HttpCallOptions, HttpClient } from '../../../src/domain/http.ts';
import { createImageInliner } from '../../../src/providers/decisions/inline-images.ts';

const URL = 'https://images.example/a.png';
const DECISION = { input: 'Look.', images: [URL] } as unknown as DecisionRequest;
const RULES = { mostBytes: null } as never;

/** A client whose only answer is an image with this body. */
const clientWith = (bodyOf: (options: HttpCallOptions) => ByteStream): HttpClient =>
  ({
    send: (_method: string, _url: string, _headers: object, _body: object, options: HttpCallOptions) =>
      Promise.resolve({ status: 200, headers: { 'content-type': 'image/png' }, body: bodyOf(options) }),
  }) as unknown as HttpClient;

const inlined = (client: HttpClient, signal: AbortSignal, wholeMs?: number): Promise<DecisionRequest> =>
  createImageInliner(client, wholeMs)(DECISION, RULES, { request: {}, signal } as never);

/** A body without an end. It fails with the reason of the signal of its call, as in the HTTP client. */
const endless = ({ signal }: HttpCallOptions): ByteStream => ({
  pipe(sink) {
    signal.addEventListener('abort', () => sink.fail(signal.reason as Error), { once: true });
    if (signal.aborted) sink.fail(signal.reason as Error);
  },
  resume() {},
  cancel() {},
});

it('an image inliner replaces the address of an image with its content', async () => {
  const client = clientWith(() => streamOfBytes(Buffer.from('pixels')));
  expect(await inlined(client, new AbortController().signal)).toEqual({
    input: 'Look.',
    images: ['data:image/png;base64,cGl4ZWxz'],
  });
});

it('an image inliner refuses an image that is not complete at its deadline', async () => {
  await expect(inlined(clientWith(endless), new AbortController().signal, 1)).rejects.toThrow(
    'litellm.BadRequestError: Error: Unable to fetch image from URL. It must be a public http(s) address that answers with an image.',
  );
});

it('an image inliner fails with the abort reason of the caller', async () => {
  const reason = new Error('The caller left.');
  await expect(inlined(clientWith(endless), AbortSignal.abort(reason))).rejects.toBe(reason);
});

it.each([
  ['different', (index: number) => `${URL}?${index}`, 3],
  ['repeated', () => URL, 1],
])('an image inliner refuses %s images that are too large together', async (_what, urlOf, expectedCalls) => {
  let calls = 0;
  // Base64 makes 27 MiB of 20 MiB: the third image exceeds the total of 64 MiB. A repeated image is downloaded once.
  const large = Buffer.alloc(20 * 1024 * 1024);
  const client = clientWith(() => {
    calls += 1;
    return streamOfBytes(large);
  });
  const images = Array.from({ length: 100 }, (_, index) => urlOf(index));
  const decision = { ...DECISION, images } as unknown as DecisionRequest;
  const terms = { request: {}, signal: new AbortController().signal } as never;
  await expect(createImageInliner(client)(decision, RULES, terms)).rejects.toThrow('too large');
  expect(calls).toBe(expectedCalls);
});
