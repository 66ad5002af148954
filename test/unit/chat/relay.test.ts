import { describe, expect, it } from 'vitest';
import type { ByteStream } from '../../../src/domain/bytes.ts';
import { ChunkInspector } from '../../../src/wire/chat-completions/inspector.ts';
import type { InspectorOptions } from '../../../src/wire/dialect.ts';
import { EventRelay } from '../../../src/wire/sse/relay.ts';
import { fedStream, gather } from '../../support/byte-streams.ts';

const OPTIONS: InspectorOptions = {
  model: 'public',
  removeUsageChunk: false,
  textLimit: 0,
  upstreamError: (error) => new Error(`refused: ${error.message}`),
  formatError: (fault) => new Error(`garbled: ${fault}`),
};

const relayOf = (source: ByteStream, options: InspectorOptions): EventRelay =>
  new EventRelay(source, new ChunkInspector(options), options.formatError);

const chunk = (delta: object, members: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'upstream-1',
    choices: [{ index: 0, delta, finish_reason: null }],
    ...members,
  })}\n\n`;
const FIRST = chunk({ role: 'assistant', content: '' });
const WORDS = ['Zoë says "model":"upstream-1"', ' 😀', ' data: x\n\n'].map((content) => chunk({ content })).join('');
const LAST = chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE = chunk({}, { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } });
const DONE = 'data: [DONE]\n\n';
const WHOLE = `: hello\n\n${FIRST}${WORDS}${LAST}${USAGE}${DONE}`;
const RENAMED = WHOLE.replaceAll('"model":"upstream-1","choices"', '"model":"public","choices"');

describe('a stream that is forwarded', () => {
  it('is the same for any chunk boundaries, with the requested model name', async () => {
    const bytes = Buffer.from(WHOLE);
    // Every size up to 40 bytes, and some larger ones.
    for (let size = 1; size <= bytes.length; size += size < 40 ? 1 : 97) {
      const source = fedStream();
      const relay = relayOf(source, OPTIONS);
      const gathered = gather(relay);
      for (let offset = 0; offset < bytes.length; offset += size) source.feed(bytes.subarray(offset, offset + size));
      source.finish();
      await relay.opened;
      expect({ size, text: gathered.text() }).toEqual({ size, text: RENAMED });
      expect(gathered.end).toBe('done');
      expect(relay.outcome()).toEqual({
        responseId: 'chatcmpl-1',
        responseModel: 'upstream-1',
        finishReason: 'stop',
        usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
        failure: null,
        text: null,
      });
    }
  });

  it('is forwarded byte for byte when it already has the requested model name', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'upstream-1' });
    const received: Uint8Array[] = [];
    relay.pipe({ chunk: (bytes) => received.push(bytes) > 0, done() {}, fail() {} });
    const content = Buffer.from(`${FIRST}${WORDS}`);
    source.feed(content);
    await relay.opened;
    expect(received).toEqual([content]);
    expect(received[0]?.buffer).toBe(content.buffer);
  });

  it('supports CR LF, comments, other fields and data in several lines', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, removeUsageChunk: true });
    const gathered = gather(relay);
    const spread = '{"id":"1","model":"m",\ndata: "choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
    source.feed(`:ping\r\n\r\nevent: x\r\nid: 3\r\n\r\ndata: ${spread}\n\ndata:[DONE]\r\n\r\n`);
    source.finish();
    await relay.opened;
    expect(gathered.text()).toBe(
      ':ping\r\n\r\nevent: x\r\nid: 3\r\n\r\ndata: {"id":"1","model":"public",\ndata: "choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata:[DONE]\r\n\r\n',
    );
    expect(relay.outcome().finishReason).toBe('stop');
  });

  it('omits a usage chunk that the caller did not request, but takes the usage from it', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'upstream-1', removeUsageChunk: true });
    const gathered = gather(relay);
    source.feed(WHOLE);
    source.finish();
    await relay.opened;
    expect(gathered.text()).toBe(WHOLE.replace(USAGE, ''));
    expect(relay.outcome().usage?.inputTokens).toBe(7);
  });

  it('omits a usage chunk that has an empty choice, and keeps chunks with content', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'm', removeUsageChunk: true });
    const gathered = gather(relay);
    const counted = (choice: string): string =>
      `data: {"id":"1","model":"m","choices":[${choice}],"usage":{"prompt_tokens":7,"completion_tokens":2}}\n\n`;
    const contentChunks =
      counted('{"index":0,"delta":{"content":"a"}}') + counted('{"index":0,"delta":{},"finish_reason":"stop"}');
    source.feed(`${contentChunks}${counted('{"index":0,"delta":{"content":null}}')}data: [DONE]\n\n`);
    source.finish();
    await relay.opened;
    expect(gathered.text()).toBe(`${contentChunks}data: [DONE]\n\n`);
    expect(relay.outcome().usage?.outputTokens).toBe(2);
  });

  it('records the text of the answer up to textLimit', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, textLimit: 9 });
    gather(relay);
    source.feed(WHOLE);
    source.finish();
    await relay.opened;
    expect(relay.outcome().text).toBe('Zoë says ');
  });

  it('has the finish reason of a chunk in which another choice continues', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'upstream-1' });
    gather(relay);
    const choices = ['stop', null].map((finish_reason, index) => ({ index, delta: {}, finish_reason }));
    source.feed(`${FIRST}${chunk({}, { choices })}${chunk({}, { choices: choices.toReversed() })}${DONE}`);
    source.finish();
    await relay.opened;
    expect(relay.outcome().finishReason).toBe('stop');
  });

  it('is empty when the upstream sent nothing', async () => {
    const source = fedStream();
    const relay = relayOf(source, OPTIONS);
    source.finish();
    await relay.opened;
    const gathered = gather(relay);
    expect([gathered.text(), gathered.end]).toEqual(['', 'done']);
  });
});

describe('a stream that fails', () => {
  const openWith = async (...content: readonly string[]) => {
    const source = fedStream();
    const relay = relayOf(source, OPTIONS);
    for (const piece of content) source.feed(piece);
    return { source, opened: await relay.opened.then(() => 'opened', String) };
  };

  it('fails before its start when its first event is an error', async () => {
    const { source, opened } = await openWith(': ping\n\n', 'data: {"error":{"message":"no","code":429}}\n\n');
    expect(opened).toBe('Error: refused: no');
    expect(source.cancelled).toBe(true);
  });

  it('fails before its start when its first event is not a chunk', async () => {
    expect((await openWith('data: {"choices":\n\n')).opened).toBe(
      'Error: garbled: an event of its stream is not a chunk of an answer',
    );
    expect((await openWith('data: 42\n\n')).opened).toBe(
      'Error: garbled: an event of its stream is not a chunk of an answer',
    );
  });

  it('sends the complete events before the failure, then ends with the failure', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'upstream-1' });
    const gathered = gather(relay);
    source.feed(`${FIRST}${WORDS}data: {"error":{"message":"overloaded","code":503}}\n\n${LAST}`);
    await relay.opened;
    expect(gathered.text()).toBe(`${FIRST}${WORDS}`);
    expect(gathered.end).toEqual(new Error('refused: overloaded'));
    expect(relay.outcome().failure).toEqual({ message: 'overloaded', code: '503' });
    expect(source.cancelled).toBe(true);
  });

  it('fails when its source ends early', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'upstream-1' });
    const gathered = gather(relay);
    source.feed(`${FIRST}${WORDS}`);
    source.finish();
    await relay.opened;
    expect(gathered.end).toEqual(new Error('garbled: the stream ended before the answer did'));
  });

  it('does not forward a partial event when the connection is cut', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'upstream-1' });
    const gathered = gather(relay);
    source.feed(`${FIRST}${WORDS.slice(0, 30)}`);
    source.break(new Error('cut'));
    await relay.opened;
    expect([gathered.text(), gathered.end]).toEqual([FIRST, new Error('cut')]);
  });
});

describe('a slow or disconnecting reader', () => {
  it('gets everything, in order, when it continues; a few buffered bytes do not pause the upstream', async () => {
    const source = fedStream();
    const relay = relayOf(source, { ...OPTIONS, model: 'upstream-1' });
    source.feed(FIRST);
    await relay.opened;
    const received: string[] = [];
    let ended = false;
    relay.pipe({
      chunk(bytes) {
        received.push(Buffer.from(bytes).toString());
        return false;
      },
      done() {
        ended = true;
      },
      fail() {},
    });
    expect(source.feed(WORDS)).toBe(true);
    source.feed(LAST);
    source.finish();
    expect(received).toEqual([FIRST]);
    relay.resume();
    expect([received, ended]).toEqual([[FIRST, WORDS], false]);
    relay.resume();
    expect([received, ended]).toEqual([[FIRST, WORDS, LAST], true]);
  });

  it('makes the relay pause the upstream, also before the reader begins to read, so that memory is bounded', async () => {
    const source = fedStream();
    const relay = relayOf(source, OPTIONS);
    source.feed(FIRST);
    await relay.opened;
    const longChunk = chunk({ content: 'x'.repeat(10_000) });
    const accepted = Array.from({ length: 10 }, () => source.feed(longChunk));
    // Seven chunks exceed the buffer of 64 KiB.
    expect(accepted.lastIndexOf(true)).toBeLessThan(7);
  });

  it('cancels the upstream call when it disconnects, and gets no further bytes', async () => {
    const source = fedStream();
    const relay = relayOf(source, OPTIONS);
    const gathered = gather(relay);
    source.feed(FIRST);
    await relay.opened;
    const before = gathered.text();
    relay.cancel();
    source.feed(WORDS);
    source.finish();
    expect([source.cancelled, gathered.text(), gathered.end]).toEqual([true, before, null]);
  });
});
