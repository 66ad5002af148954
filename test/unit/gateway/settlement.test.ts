import { describe, expect, it } from 'vitest';
import { type ByteSink, type ByteStream, streamOfBytes, collect } from '../../../src/domain/bytes.ts';
import type { ChatDelta } from '../../../src/domain/chat/chat.ts';
import { Unavailable, UpstreamFailed } from '../../../src/domain/errors.ts';
import { ReaderStalled } from '../../../src/domain/http.ts';
import { settledCall } from '../../support/settled-call.ts';

async function* noSteps(): AsyncGenerator<ChatDelta, undefined> {}

/** A call over a source that the test controls, and its events in order. */
function aCall(bytes?: ByteStream) {
  const events: unknown[] = [];
  let sink: ByteSink | null = null;
  const source: ByteStream = bytes ?? {
    pipe(to) {
      sink = to;
    },
    resume() {},
    cancel: (failure) => events.push(['cancelled', failure]),
  };
  const call = settledCall({ bytes: source, deltas: noSteps }, (end, failure) => events.push([end, failure]));
  const reader: ByteSink = {
    chunk: (chunk) => events.push(['chunk', Buffer.from(chunk).toString()]) > 0,
    done: () => events.push(['done']),
    fail: (error) => events.push(['fail', error]),
  };
  const pipedSink = (): ByteSink => {
    if (sink === null) throw new TypeError('The stream was not piped.');
    return sink;
  };
  return { call, events, reader, pipedSink };
}

const FAILURE = new UpstreamFailed('It broke.', { provider: 'openai', upstreamStatus: 500 });

describe('a forwarded answer', () => {
  it('settles as completed after its last byte', () => {
    const { call, events, reader } = aCall(streamOfBytes(Buffer.from('abc')));
    call.bytes().pipe(reader);
    expect(events).toEqual([['chunk', 'abc'], ['done'], ['completed', undefined]]);
  });

  it('settles as failed after the failure', () => {
    const { call, events, reader, pipedSink } = aCall();
    call.bytes().pipe(reader);
    pipedSink().fail(FAILURE);
    expect(events).toEqual([
      ['fail', FAILURE],
      ['failed', FAILURE],
    ]);
  });

  it('settles as abandoned when its caller disconnects or does not read', () => {
    const disconnected = aCall();
    disconnected.call.bytes().cancel();
    expect(disconnected.events).toEqual([
      ['cancelled', undefined],
      ['abandoned', undefined],
    ]);
    const stalled = aCall();
    stalled.call.bytes().pipe(stalled.reader);
    const failure = new ReaderStalled();
    stalled.pipedSink().fail(failure);
    expect(stalled.events.at(-1)).toEqual(['abandoned', failure]);
  });

  it('settles as failed when a shutdown ends it', () => {
    const { call, events } = aCall();
    const failure = new Unavailable('The process is shutting down.');
    call.bytes().cancel(failure);
    expect(events).toEqual([
      ['cancelled', failure],
      ['failed', failure],
    ]);
  });

  it('settles by the end of its translation, not of its source', () => {
    const { call, events, reader, pipedSink } = aCall();
    const translated = call.translated((bytes) => ({
      pipe: (sink) =>
        bytes.pipe({
          chunk() {
            bytes.cancel();
            sink.fail(FAILURE);
            return false;
          },
          done: () => sink.done(),
          fail: (error) => sink.fail(error),
        }),
      resume: () => bytes.resume(),
      cancel: () => bytes.cancel(),
    }));
    translated.bytes().pipe(reader);
    pipedSink().chunk(Buffer.from('x'));
    expect(events).toEqual([
      ['cancelled', undefined],
      ['fail', FAILURE],
      ['failed', FAILURE],
    ]);
  });
});

describe('a consumed answer', () => {
  it('settles as completed with its result', async () => {
    const { call, events } = aCall(streamOfBytes(Buffer.from('abc')));
    expect(await call.consume(async (bytes) => Buffer.from((await collect(bytes, 9)) ?? []).toString())).toBe('abc');
    expect(events).toEqual([['completed', undefined]]);
  });

  it('settles as failed with the error of its reader, although every byte arrived', async () => {
    const { call, events } = aCall(streamOfBytes(Buffer.from('abc')));
    await expect(
      call.consume(async (bytes) => {
        await collect(bytes, 9);
        throw FAILURE;
      }),
    ).rejects.toBe(FAILURE);
    expect(events).toEqual([['failed', FAILURE]]);
  });
});
