import { describe, expect, it } from 'vitest';
import { afterFirstChunk } from '../../../src/domain/first-chunk.ts';
import { fedStream, gather } from '../../support/byte-streams.ts';

const CUT = new Error('cut');

describe('a stream with afterFirstChunk', () => {
  it('has the chunks that arrived before it is read, and continues when it is read', async () => {
    const source = fedStream();
    const waiting = afterFirstChunk(source);
    // `feed` returns false when the stream requests a pause.
    expect(source.feed('on')).toBe(false);
    const stream = await waiting;
    expect(source.feed('ce ')).toBe(false);
    const gathered = gather(stream);
    expect([gathered.text(), source.resumed]).toEqual(['once ', 1]);
    expect(source.feed('upon')).toBe(true);
    source.finish();
    expect([gathered.text(), gathered.end]).toEqual(['once upon', 'done']);
  });

  it('stays paused for a reader that does not continue', async () => {
    const source = fedStream();
    const waiting = afterFirstChunk(source);
    source.feed('once');
    const stream = await waiting;
    stream.pipe({ chunk: () => false, done: () => {}, fail: () => {} });
    expect(source.resumed).toBe(0);
    stream.resume();
    expect(source.resumed).toBe(1);
    stream.cancel();
    expect(source.cancelled).toBe(true);
  });

  it('is opened when it ends without a byte', async () => {
    const source = fedStream();
    const waiting = afterFirstChunk(source);
    source.finish();
    const gathered = gather(await waiting);
    expect([gathered.text(), gathered.end, source.resumed]).toEqual(['', 'done', 0]);
  });

  it('fails when its source fails before the first byte', async () => {
    const source = fedStream();
    const waiting = afterFirstChunk(source);
    source.break(CUT);
    await expect(waiting).rejects.toBe(CUT);
  });

  it('fails after the same chunk when it is read after the failure and when it is read before', async () => {
    const early = fedStream();
    const waiting = afterFirstChunk(early);
    early.feed('on');
    early.break(CUT);
    const unread = gather(await waiting);
    expect([unread.text(), unread.end]).toEqual(['on', CUT]);

    const late = fedStream();
    const opening = afterFirstChunk(late);
    late.feed('on');
    const alreadyRead = gather(await opening);
    late.break(CUT);
    expect([alreadyRead.text(), alreadyRead.end]).toEqual(['on', CUT]);
  });
});
