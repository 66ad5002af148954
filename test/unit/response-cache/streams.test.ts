import { describe, expect, it } from 'vitest';
import { type ByteSink, type ByteStream, iterate, streamOfBytes } from '../../../src/domain/bytes.ts';
import { recordedStream } from '../../../src/gateway/response-cache/recorded-stream.ts';
import { replayedStream } from '../../../src/gateway/response-cache/replayed-stream.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
async function chunksOf(stream: ByteStream): Promise<readonly string[]> {
  const chunks: string[] = [];
  for await (const chunk of iterate(stream)) chunks.push(new TextDecoder().decode(chunk));
  return chunks;
}

describe('a replayed stream', () => {
  it('has one event in each chunk, with line ends \\n and \\r\\n', async () => {
    expect(await chunksOf(replayedStream(bytes('data: 1\n\nevent: a\r\ndata: 2\r\n\r\ndata: 3')))).toEqual([
      'data: 1\n\n',
      'event: a\r\ndata: 2\r\n\r\n',
      'data: 3',
    ]);
  });

  it('delivers 500 events, more than it delivers in one turn of the event loop', async () => {
    const events = Array.from({ length: 500 }, (_event, at) => `data: ${at}\n\n`);
    expect(await chunksOf(replayedStream(bytes(events.join(''))))).toEqual(events);
  });

  it('stops when its reader cancels', () => {
    const received: Uint8Array[] = [];
    const stream = replayedStream(bytes('data: 1\n\ndata: 2\n\n'));
    const sink: ByteSink = {
      chunk(chunk) {
        received.push(chunk);
        stream.cancel();
        return true;
      },
      done: () => received.push(bytes('done')),
      fail: () => received.push(bytes('fail')),
    };
    stream.pipe(sink);
    expect(received).toHaveLength(1);
  });
});

describe('a recorded stream', () => {
  /** A sink that records what it gets. */
  const sinkOf = (events: string[]): ByteSink => ({
    chunk: () => events.push('chunk') > 0,
    done: () => void events.push('done'),
    fail: () => void events.push('fail'),
  });

  it('forwards its bytes, and reports them after the end', () => {
    const events: string[] = [];
    recordedStream(streamOfBytes(bytes('whole')), 5, (body) => {
      events.push(new TextDecoder().decode(body));
    }).pipe(sinkOf(events));
    expect(events).toEqual(['chunk', 'done', 'whole']);
  });

  it('reports nothing above its limit, and nothing after a failure', () => {
    const events: string[] = [];
    const complete = (): void => void events.push('complete');
    recordedStream(streamOfBytes(bytes('whole')), 4, complete).pipe(sinkOf(events));
    const failing: ByteStream = {
      pipe(sink) {
        sink.chunk(bytes('a'));
        sink.fail(new Error('cut'));
      },
      resume: () => undefined,
      cancel: () => undefined,
    };
    recordedStream(failing, 9, complete).pipe(sinkOf(events));
    expect(events).toEqual(['chunk', 'done', 'chunk', 'fail']);
  });
});
