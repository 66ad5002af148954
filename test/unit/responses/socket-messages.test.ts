import { describe, expect, it } from 'vitest';
import { type ByteSink, streamOfBytes, type ByteStream } from '../../../src/domain/bytes.ts';
import { socketMessages } from '../../../src/wire/responses/socket-messages.ts';

/** Messages of a stream that arrives in chunks of `size` bytes. */
function messagesOf(text: string, { size = text.length, streamId = null as string | null } = {}) {
  const received: string[] = [];
  const ended: unknown[] = [];
  const bytes = Buffer.from(text);
  const source: ByteStream = {
    pipe(sink) {
      for (let offset = 0; offset < bytes.length; offset += size) sink.chunk(bytes.subarray(offset, offset + size));
      sink.done();
    },
    resume() {},
    cancel() {},
  };
  const messages = socketMessages(source, {
    streamId,
    ended: (response, status) => void ended.push([status, response]),
  });
  messages.pipe({
    chunk(message) {
      // The number before a message counts the ends reported so far. The end must precede the last message, because its
      // reader may send the next turn immediately.
      received.push(`${ended.length} ${Buffer.from(message).toString()}`);
      return true;
    },
    done: () => void received.push('done'),
    fail: (error) => void received.push(error.message),
  });
  return { received, ended, next: messages.nextNumber() };
}

/** Comments, `[DONE]`, and data smaller than an object with a type are not messages. */
const STREAM = [
  'event: response.created\r\ndata: {"type":"response.created","sequence_number":7,"response":{"id":"a"}}\r\n\r\n',
  ': a comment\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"of response.completed"}\n\n',
  'data: {"type" :\ndata: "é","sequence_number":11}\n\n',
  'data: {}\n\n',
  'event: response.incomplete\ndata: {"sequence_number":12,"response":{"id":"a"}}\n\n',
  'data: [DONE]\n\n',
].join('');

describe('events as messages', () => {
  it.each([1, 2, 7, 1_000])('are one per message, for any chunk size (%i bytes)', (size) => {
    expect(messagesOf(STREAM, { size })).toEqual({
      received: [
        '0 {"type":"response.created","sequence_number":7,"response":{"id":"a"}}',
        '0 {"type":"response.output_text.delta","delta":"of response.completed"}',
        '0 {"type" :\n"é","sequence_number":11}',
        '1 {"sequence_number":12,"response":{"id":"a"}}',
        'done',
      ],
      // An incomplete response counts as completed.
      ended: [['completed', { id: 'a' }]],
      next: 13,
    });
  });

  it('have the id of their stream, and are otherwise unchanged', () => {
    const { received } = messagesOf('data: {"type":"x" , "n":1e-7}\n\n', { streamId: 'a.b' });
    expect(received).toEqual(['0 {"stream_id":"a.b","type":"x" , "n":1e-7}', 'done']);
  });

  it('report a failed response, also in a last event without a blank line', () => {
    const { received, ended, next } = messagesOf('data: {"type":"response.failed","response":{}}');
    expect([received, ended, next]).toEqual([
      ['1 {"type":"response.failed","response":{}}', 'done'],
      [['failed', {}]],
      0,
    ]);
  });

  it('pause with their reader', () => {
    const sink: ByteSink = { chunk: () => false, done() {}, fail() {} };
    /** What the messages return for each chunk. False asks to pause. */
    const results: boolean[] = [];
    const source = streamOfBytes(Buffer.from(STREAM));
    const recorded: ByteStream = {
      ...source,
      pipe: (reader) =>
        source.pipe({
          ...reader,
          chunk(bytes) {
            results.push(reader.chunk(bytes));
            return true;
          },
        }),
    };
    socketMessages(recorded, { streamId: null, ended() {} }).pipe(sink);
    expect(results).toEqual([false]);
  });
});
