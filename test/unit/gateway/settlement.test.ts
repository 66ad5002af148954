import { describe, expect, it } from 'vitest';
import { type ByteSink, type ByteStream, streamOfBytes, collect } from '../../../src/domain/bytes.ts';
import type { ChatDelta } from '../../../src/domain/chat/chat.ts';
import { Unavailable, UpstreamFailed } from '../../../src/domain/errors.ts';
import { ReaderStalled } from '../../../src/domain/http.ts';
import { settledCall } from '../../support/settled-call.ts';

async function* noSteps(): AsyncGenerator<ChatDelta, undefined> {}

/** A call over a source that the test controls, and its events in order. */
function aCall(bytes?: ByteStream) {
  const done: unknown[] = [];
  let sink: ByteSink | null = null;
  const source: ByteStream = bytes ?? {
    pipe(to) {
      sink = to;
    },
    resume() {},
    cancel: (failure) => done.push(['cancelled', failure]),
  };
  const call = settledCall({ bytes: source, deltas: noSteps }, (end, failure) => done.push([end, failure]));
  const read: ByteSink = {
    chunk: (chunk) => done.push(['chunk', Buffer.from(chunk).toString()]) > 0,
    done: () => done.push(['done']),
    fail: (error) => done.push(['fail', error]),
  };
  const driven = (): ByteSink => {
    if (sink === null) throw new TypeError('The stream was not piped.');
    return sink;
  };
  return { call, done, read, source: driven };
}

const FAILURE = new UpstreamFailed('It broke.', { provider: 'openai', upstreamStatus: 500 });

describe('a forwarded answer', () => {
  it('settles as completed after its last byte', () => {
    const { call, done, read } = aCall(streamOfBytes(Buffer.from('abc')));
    call.bytes().pipe(read);
    expect(done).toEqual([['chunk', 'abc'], ['done'], ['completed', undefined]]);
  });

  it('settles as failed after the failure', () => {
    const { call, done, read, source } = aCall();
    call.bytes().pipe(read);
    source().fail(FAILURE);
    expect(done).toEqual([
      ['fail', FAILURE],
      ['failed', FAILURE],
    ]);
  });

  it('settles as abandoned when its caller disconnects or does not read', () => {
    const left = aCall();
    left.call.bytes().cancel();
    expect(left.done).toEqual([
      ['cancelled', undefined],
      ['abandoned', undefined],
    ]);
    const stalled = aCall();
    stalled.call.bytes().pipe(stalled.read);
    const failure = new ReaderStalled();
    stalled.source().fail(failure);
    expect(stalled.done.at(-1)).toEqual(['abandoned', failure]);
  });

  it('settles as failed when a shutdown ends it', () => {
    const { call, done } = aCall();
    const failure = new Unavailable('The process is shutting down.');
    call.bytes().cancel(failure);
    expect(done).toEqual([
      ['cancelled', failure],
      ['failed', failure],
    ]);
  });

  it('settles by the end of its translation, not of its source', () => {
    const { call, done, read, source } = aCall();
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
    translated.bytes().pipe(read);
    source().chunk(Buffer.from('x'));
    expect(done).toEqual([
      ['cancelled', undefined],
      ['fail', FAILURE],
      ['failed', FAILURE],
    ]);
  });
});

describe('a consumed answer', () => {
  it('settles as completed with its result', async () => {
    const { call, done } = aCall(streamOfBytes(Buffer.from('abc')));
    expect(await call.consume(async (bytes) => Buffer.from((await collect(bytes, 9)) ?? []).toString())).toBe('abc');
    expect(done).toEqual([['completed', undefined]]);
  });

  it('settles as failed with the error of its reader, although every byte arrived', async () => {
    const { call, done } = aCall(streamOfBytes(Buffer.from('abc')));
    await expect(
      call.consume(async (bytes) => {
        await collect(bytes, 9);
        throw FAILURE;
      }),
    ).rejects.toBe(FAILURE);
    expect(done).toEqual([['failed', FAILURE]]);
  });
});
