import { describe, expect, it } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import { outputUseOf } from '../../../src/domain/upstream-objects/output-use.ts';
import { fedStream } from '../../support/byte-streams.ts';

const line = (body: unknown, status_code = 200): string =>
  JSON.stringify({ id: 'r', custom_id: 'ü', response: { status_code, request_id: 'q', body }, error: null });
const chat = (prompt_tokens: number, completion_tokens: number, model = 'm-1') =>
  line({ model, usage: { prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens: 1 } } });
const FAILED = JSON.stringify({ id: 'r', custom_id: '2', response: null, error: { code: 'batch_expired' } });
const use = (
  model: string | null,
  ...[inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0]: number[]
) => ({
  model,
  usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens: 0, reasoningTokens },
});

const read = (text: string) => outputUseOf(streamOfBytes(Buffer.from(text)));

describe('the usage in the output of a batch', () => {
  it.each([
    ['an empty output', '', []],
    ['one answer', chat(3, 2), [use('m-1', 3, 2, 1)]],
    [
      'answers of two models',
      [chat(3, 2), chat(5, 1, 'm-2'), chat(4, 4), ''].join('\n'),
      [use('m-1', 7, 6, 2), use('m-2', 5, 1, 1)],
    ],
    [
      'refused and expired calls, which used nothing',
      [chat(3, 2), line({ error: {} }, 400), FAILED].join('\n'),
      [use('m-1', 3, 2, 1)],
    ],
    ['embeddings', line({ model: 'e', usage: { prompt_tokens: 8, total_tokens: 8 } }), [use('e', 8, 0)]],
    [
      'responses',
      line({
        usage: {
          input_tokens: 9,
          output_tokens: 5,
          input_tokens_details: { cached_tokens: 2 },
          output_tokens_details: { reasoning_tokens: 4 },
        },
      }),
      [use(null, 9, 5, 2, 4)],
    ],
    ['an answer without usage', [chat(3, 2), line({ model: 'm-1' })].join('\n'), null],
    ['not JSON', `${chat(3, 2)}\nnonsense`, null],
  ])('is read for %s', async (_name, text, uses) => {
    expect(await read(text)).toEqual(uses);
  });

  it.each([
    ['no usage', undefined],
    ['negative counts', { prompt_tokens: -1, completion_tokens: -1 }],
    ['more tokens than a call can have', { prompt_tokens: 9e15, completion_tokens: 9e15 }],
  ])('is an estimate by size for a line with %s', async (_case, usage) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(32) }, finish_reason: null }];
    const lines = [chat(3, 2), line({ model: 'm-1', choices, ...(usage === undefined ? {} : { usage }) })].join('\n');
    // The second argument is the mean input of a call. The text counts as eight output tokens, and the index as one.
    expect(await outputUseOf(streamOfBytes(Buffer.from(lines)), 7)).toEqual([use('m-1', 10, 11, 1)]);
    expect(await outputUseOf(streamOfBytes(Buffer.from(line({ model: 'e', data: [], usage }))), 7)).toEqual([
      use('e', 7, 0),
    ]);
    expect(await outputUseOf(streamOfBytes(Buffer.from(line({ model: 'm-1' }))), 7)).toBeNull();
    expect(await outputUseOf(streamOfBytes(Buffer.from('nonsense')), 7)).toBeNull();
  });

  it('is the same for any chunk boundaries, and fails with its stream', async () => {
    const bytes = Buffer.from(`${chat(3, 2)}\r\n${chat(4, 4)}\n`);
    for (const size of [1, 7, 64]) {
      const source = fedStream();
      const uses = outputUseOf(source);
      for (let offset = 0; offset < bytes.length; offset += size) source.feed(bytes.subarray(offset, offset + size));
      source.finish();
      expect(await uses).toEqual([use('m-1', 7, 6, 2)]);
    }
    const source = fedStream();
    const uses = outputUseOf(source);
    source.feed(bytes);
    source.break(new Error('cut'));
    await expect(uses).rejects.toThrow('cut');
  });
});
